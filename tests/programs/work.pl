# SPDX-License-Identifier: Apache-2.0
# What perl does all day: regular expressions, hashes, sorting, text, closures, eval.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use List::Util qw(sum max);

sub depth { my $n = shift; return $n ? 1 + depth($n - 1) : 0 }

my $turn = 0;
while (++$turn) {
	my %count;
	my $text = join(" ", map { "word-" . ($_ * 7919 % 997) . ":" . ($_ ^ $turn) } 1 .. 3000);
	$count{$1} += $2 while $text =~ /word-(\d+):(\d+)/g;
	my @order = sort { $count{$a} <=> $count{$b} || $a cmp $b } keys %count;
	(my $other = $text) =~ s/(\w+)-(\d+)/uc($1) . sprintf("%04x", $2)/ge;
	my $sum = sum(map { length } split /\s+/, $other) + max(values %count);
	my $code = eval "sub { \$_[0] + $turn }";
	$sum = $code->($sum) + depth(40) + length sha256_hex($other);
	open(my $out, '>', '/dev/null') or die;
	print $out pack("N*", 1 .. 2000), $sum, join(",", @order);
	close $out;
	eval { die { turn => $turn } };
}
