max_value 7;
global x, y = 5;
track x: 0, 1;
fn t {
	local a, b;
	while (a < 3 && !(b => 2)) {
		oneof({ a = FADD(x, 1); } { BCAS(y, 5, a + 1, acq, rel); } ({
	}));
	}
}
