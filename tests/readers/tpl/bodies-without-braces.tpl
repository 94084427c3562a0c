max_value 3;
global x, y;

fn waits {
	local seen;
	x.store(1, rlx);
	seen = y.load(rlx);
	while (seen == 0)
		seen = y.load(rlx);
	if (seen == 2)
		x.store(seen, rlx);
	else
		oneof (y.store(1, rlx); skip;)
	seen = x.load(rlx);
}

fn other {
	local seen;
	y.store(2, rlx);
	seen = x.load(rlx);
}
