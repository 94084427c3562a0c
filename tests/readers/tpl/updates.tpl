global x;
fn t {
	local a;
	a = CAS(x, 0, 1, acq, rel);
	if a == 0 { fence(acq_rel); } else if (a > 1) skip; else { fence; }
	FADD(x, -1, rlx, rel);
	assume(a != 2);
	assert(a % 2 == 0);
	verify(a);
}
