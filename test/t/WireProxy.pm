# WireProxy.pm: a proxy between a client and a server that speak PostgreSQL's protocol, as the tests need one.
#
#	my $proxy = WireProxy->start(to => $port, delay => 0.001);		# holds back each message for half of that, each way
#	my $proxy = WireProxy->start(to => $port, statement => sub { ... });	# and may change what goes through
#
# Options: delay (seconds of a round trip), statement (gets each text of a Query or Parse message, returns what is sent instead, or undef:
# both connections end),
# parameter (gets name and value of a ParameterStatus, returns the value that the client sees, or undef: none), no_key (the client
# is given a key of zeros), cancel (gets the number of a request to cancel, from 1, returns whether it is let through).
#
# One process for all of its connections.  Messages are not held up by one another: what is under way overlaps, as on a wire.
# A delay is slept until shortly before its end, then spun: what each message was really held back is recorded, and told by
# delivered().  Requests for encryption are answered with no.

package WireProxy;

use strict;
use warnings;
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use POSIX ();
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

use constant {
	SPIN => 0.00015,	# seconds before a message is due in which the proxy does not sleep
	STARTUP => 196608, CANCEL => 80877102, TLS => 80877103, GSS => 80877104,
};

my $started = 0;

sub start
{
	my ($class, %opt) = @_;
	my $listen = IO::Socket::INET->new(Listen => 64, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no proxy: $!";
	my $self = bless { %opt, port => $listen->sockport, record => "$PostgreSQL::Test::Utils::tmp_check/proxy" . ++$started, told => 0 }, $class;
	unlink $self->{record};
	append_to_file($self->{record}, '');
	$self->{parent} = $$;
	$self->{pid} = fork() // die "no proxy: $!";
	return $self if $self->{pid};
	# nothing of the test's may be run at the end of this process
	$SIG{TERM} = $SIG{INT} = sub { POSIX::_exit(0) };
	$SIG{PIPE} = 'IGNORE';
	eval { $self->serve($listen) };
	print STDERR "proxy: $@";
	POSIX::_exit(1);
}

sub port { return $_[0]{port} }

sub stop
{
	my ($self) = @_;
	return unless $self->{pid} && $self->{parent} == $$;
	local $?;
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	delete $self->{pid};
	return;
}

sub DESTROY { $_[0]->stop }

# What has been recorded since the last time it was asked, when all connections have ended: a list of [what, value ...]
sub recorded
{
	my ($self) = @_;
	for (1 .. 500)
	{
		my $all = slurp_file($self->{record});
		last if (() = $all =~ /^open$/mg) == (() = $all =~ /^closed$/mg);
		sleep 0.01;
	}
	my $text = slurp_file($self->{record}, $self->{told});
	$text =~ s/[^\n]*\z//;	# a line that is being written
	$self->{told} += length $text;
	return map { [ split / / ] } split /\n/, $text;
}

# Seconds by which a round trip of the connections that have ended since then was longer: the median of each way
sub delivered
{
	my ($self) = @_;
	my %ways = (s => [], c => []);
	for my $line ($self->recorded)
	{
		my ($what, $way, @values) = @$line;
		push @{ $ways{$way} }, @values if $what eq 'held';
	}
	my $sum = 0;
	for my $way (values %ways)
	{
		my @sorted = sort { $a <=> $b } @$way;
		$sum += $sorted[ @sorted / 2 ] / 1e6 if @sorted;
	}
	return $sum;
}

# How many requests to cancel have come, since recorded() or delivered() was called last
sub cancels
{
	my ($self) = @_;
	return scalar grep { $_->[0] eq 'cancel' } $self->recorded;
}

# ---- the proxy's process ----

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub serve
{
	my ($self, $listen) = @_;
	my %links;	# by file number: the link whose data comes from there
	my $cancels = 0;

	# the kernel may wake a process 50 us late to save power
	if (open my $slack, '>', '/proc/self/timerslack_ns') { print $slack 1; close $slack; }
	while (1)
	{
		my ($readable, $writable, $due) = ('', '', undef);
		vec($readable, fileno $listen, 1) = 1;
		for my $link (values %links)
		{
			vec($readable, fileno $link->{from}, 1) = 1 unless $link->{ended} || length $link->{out} > 1 << 20;
			vec($writable, fileno $link->{to}, 1) = 1 if length $link->{out};
			my $first = $link->{queue}[0];
			$due = $first->[0] if $first && (!defined $due || $first->[0] < $due);
		}
		my $wait = defined $due ? $due - now() - SPIN : undef;
		$wait = 0 if defined $wait && $wait < 0;
		select($readable, $writable, undef, $wait) >= 0 or next;

		for my $link (values %links)
		{
			$self->take($link, \%links, \$cancels) if vec($readable, fileno $link->{from}, 1) && !$link->{ended};
		}
		for my $link (values %links)
		{
			$self->deliver($link);
			next unless $link->{ended} && !@{ $link->{queue} } && !length $link->{out};
			# one end has gone: so does the other
			$self->close_pair($link, \%links);
			last;
		}
		$self->welcome($listen, \%links) if vec($readable, fileno $listen, 1);
	}
}

sub welcome
{
	my ($self, $listen, $links) = @_;
	my $client = $listen->accept or return;
	my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{to}, Proto => 'tcp');
	if (!$server) { close $client; return; }
	for my $socket ($client, $server) { $socket->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1); $socket->blocking(0); }
	append_to_file($self->{record}, "open\n");
	# data goes from one socket to the other; s is the way to the server, c the one to the client
	my $up = { from => $client, to => $server, way => 's', starting => 1 };
	my $down = { from => $server, to => $client, way => 'c', other => $up };
	$up->{other} = $down;
	@$_{qw(ended in out queue held)} = (0, '', '', [], []) for $up, $down;
	$links->{ fileno $client } = $up;
	$links->{ fileno $server } = $down;
	return;
}

sub close_pair
{
	my ($self, $link, $links) = @_;
	my $record = '';
	for my $one ($link, $link->{other})
	{
		delete $links->{ fileno $one->{from} };
		$record .= "held $one->{way} " . join(' ', map { sprintf '%.1f', $_ * 1e6 } @{ $one->{held} }) . "\n" if @{ $one->{held} };
	}
	$record .= "closed\n";
	append_to_file($self->{record}, $record);
	close $_->{from} for $link, $link->{other};
	delete $link->{other}{other};
	delete $link->{other};
	return;
}

# are there messages to be changed?
sub looks { return $_[0]{statement} || $_[0]{parameter} || $_[0]{no_key} }

# data has come, or the end of it
sub take
{
	my ($self, $link, $links, $cancels) = @_;
	my $n = sysread $link->{from}, my $data, 65536;
	my $arrived = now();
	if (!$n)
	{
		return if !defined $n && $!{EAGAIN};
		$link->{ended} = 1;
		return;
	}
	$link->{in} .= $data;
	$data = $link->{starting} ? $self->start_up($link, $cancels) : '';
	$data .= $self->looks() ? $self->messages($link) : substr($link->{in}, 0, length $link->{in}, '') unless $link->{starting};
	push @{ $link->{queue} }, [ $arrived + ($self->{delay} // 0) / 2, $data, $arrived ] if length $data;
	return;
}

# what a client says first
sub start_up
{
	my ($self, $link, $cancels) = @_;
	while (length $link->{in} >= 8)
	{
		my ($length, $code) = unpack 'NN', $link->{in};
		return '' if length $link->{in} < $length;
		my $packet = substr $link->{in}, 0, $length, '';
		if ($code == TLS || $code == GSS)
		{
			syswrite $link->{from}, 'N';
			next;
		}
		$link->{starting} = 0;
		if ($code == CANCEL)
		{
			append_to_file($self->{record}, 'cancel ' . ++$$cancels . "\n");
			if ($self->{cancel} && !$self->{cancel}->($$cancels))
			{
				$link->{ended} = 1;
				return '';
			}
		}
		return $packet;
	}
	return '';
}

# whole messages, changed where the test wants it
sub messages
{
	my ($self, $link) = @_;
	my @out;

	while (length $link->{in} >= 5)
	{
		my ($type, $length) = unpack 'aN', $link->{in};
		last if length $link->{in} < 1 + $length;
		my $body = substr substr($link->{in}, 0, 1 + $length, ''), 5;
		my $message = $self->message($link->{way}, $type, $body);
		if (!defined $message)
		{
			$link->{ended} = 1;
			return '';
		}
		push @out, $message;
	}
	return join '', @out;
}

sub message
{
	my ($self, $way, $type, $body) = @_;
	if ($way eq 's' && $self->{statement} && $type eq 'Q')
	{
		my $text = $self->{statement}->(unpack 'Z*', $body);
		return undef unless defined $text;
		$body = pack 'Z*', $text;
	}
	elsif ($way eq 's' && $self->{statement} && $type eq 'P')
	{
		my ($name, $text, $rest) = unpack 'Z* Z* a*', $body;
		$text = $self->{statement}->($text);
		return undef unless defined $text;
		$body = pack 'Z* Z* a*', $name, $text, $rest;
	}
	elsif ($way eq 'c' && $self->{parameter} && $type eq 'S')
	{
		my ($name, $value) = unpack 'Z* Z*', $body;
		$value = $self->{parameter}->($name, $value);
		return '' unless defined $value;
		$body = pack 'Z* Z*', $name, $value;
	}
	elsif ($way eq 'c' && $self->{no_key} && $type eq 'K')
	{
		$body = "\0" x length $body;
	}
	return pack 'aN a*', $type, 4 + length $body, $body;
}

# hand over what is due; shortly before that, spin
sub deliver
{
	my ($self, $link) = @_;
	while (my $first = $link->{queue}[0])
	{
		my $left = $first->[0] - now();
		last if $left > 0;
		shift @{ $link->{queue} };
		$link->{out} .= $first->[1];
		# as it would be seen from outside: when it is written, not when it could be
		$self->write_out($link);
		push @{ $link->{held} }, now() - $first->[2] if defined $self->{delay};
	}
	$self->write_out($link) if length $link->{out};
	return;
}

sub write_out
{
	my ($self, $link) = @_;
	my $n = syswrite $link->{to}, $link->{out};
	if (defined $n) { substr $link->{out}, 0, $n, ''; }
	elsif (!$!{EAGAIN}) { $link->{out} = ''; $link->{ended} = 1; }
	return;
}

1;
