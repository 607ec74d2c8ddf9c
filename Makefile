# rtbench: PGXS build.  `make demo` and `make test` need nothing but this tree on a fresh Debian machine.
MODULE_big = rtbench
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c)))
PGFILEDESC = "rtbench - what the ways of asking for the same work cost"

EXTENSION = rtbench
DATA = $(sort $(wildcard rtbench--*.sql))
REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))

# Without -fno-plt each of the server's functions is reached by a detour, which makes counting a statement dearer by a quarter.
PG_CFLAGS = -fno-plt -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

# src/connection*.c are a client of servers
PG_CPPFLAGS = -I$(libpq_srcdir)
SHLIB_LINK_INTERNAL = $(libpq)

PG_CONFIG ?= pg_config
PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))
ifneq ($(PGXS),)
include $(PGXS)
else
all install uninstall installcheck clean:
	@echo >&2 "$(PG_CONFIG) leads to no PostgreSQL with its development files (Debian: postgresql-server-dev-NN): install them, or set PG_CONFIG"
	@exit 2
endif

# PGXS follows no #include
$(OBJS) $(OBJS:.o=.bc): $(wildcard src/*.h)

# These install what they need, and work in a throw-away copy of the server: nothing is installed into the machine's own.
.PHONY: demo test test-matrix bench

demo:
	@test/demo.sh

test:
	@test/run.sh

# MAJORS="17 18": the majors to test on, each in a Debian tree of its own
test-matrix:
	@test/matrix.sh

# BENCH="test/bench/x.sh ...": these only
bench:
	@test/bench.sh
