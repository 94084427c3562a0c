max_value 2;
global x;
fn a {
	local t;
	while (true) {
		t = x.load();
	}
	{
		;
		t = x.load();
	}
}
