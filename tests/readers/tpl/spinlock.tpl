// A lock taken by an exchange, with data behind it.
max_value 3;
global l, turn = 1;
na data = 2;

fn first {
	local r, s;
	again: r = exchange(l, 1, acq, rlx);
	if (r != 0) goto again;
	s = data.naload();
	data.nastore(s + 1);
	l.store(0, rel);
}

fn second {
	local r;
	lock(l);
	data.nastore(1);
	unlock(l);
	wait(turn, 1, 2, acq);
	r = wait(turn, 1);
}
