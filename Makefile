# rtbench: PGXS build.  `make demo` and `make test` need nothing but this tree on a fresh Debian machine.
MODULE_big = rtbench
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c)))
PGFILEDESC = "rtbench - what the ways of asking for the same work cost"

EXTENSION = rtbench
DATA = rtbench--1.0.sql
REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))

PG_CFLAGS = -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
