//! What must not be taken for an answer: who wakes nobody, waits for grace periods, goes round a
//! locked section, or never comes to the end that is spoken of.

use super::said;
use std::path::Path;

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("it is written");
}

#[test]
fn who_wakes_nobody_does_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program W\naddress flag, q\nthread waiter { while (flag == 0) { notify_all(q); } }\n\
        thread setter { if (*) { flag = 1; } }\n";
    write(folder.path(), "w.pal", text);
    for line in ["check w.pal", "check --ask hangs --model sc w.pal --certificate e"] {
        let (status, report) = said(folder.path(), line);
        assert!(status == 1 && report.contains("stuck"), "{line}: {report}");
    }
    assert_eq!(said(folder.path(), "fences --ask hangs w.pal").0, 1);
    assert_eq!(said(folder.path(), "check --ask hopeless w.pal").0, 1);
    assert_eq!(said(folder.path(), "verify e/w.pal.stuck.json").0, 0);
    // Somebody sleeps there: whoever goes round wakes him, and he sets the flag.
    let sleeper = "thread setter { wait(q, 0); flag = 1; }";
    let woken = text.replace("thread setter { if (*) { flag = 1; } }", sleeper);
    write(folder.path(), "woken.pal", &woken);
    let (status, report) = said(folder.path(), "check --ask hangs woken.pal --certificate e");
    assert!(status == 0 && report.starts_with("woken.pal: nobody waits for ever\n"), "{report}");
    assert_eq!(said(folder.path(), "verify e/woken.pal.free.json").0, 0);
}

#[test]
fn who_does_not_look_again_waits_for_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program S\naddress x\nthread a { let r = x; while (r == 0) { pause; } ensure r == 1; }\n\
        thread b { x = 1; }\n";
    write(folder.path(), "s.pal", text);
    let (status, report) = said(folder.path(), "check s.pal");
    assert!(status == 1 && report.contains("`a` waits"), "{report}");
}

#[test]
fn who_goes_round_a_section_is_not_told_to_have_hope() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program H\naddress x, y, z\nthread b { while (z == 0) { atomic { let r = y; } } }\n";
    write(folder.path(), "alone.pal", text);
    write(folder.path(), "beside.pal", &format!("{text}thread c {{ while (x < 2) {{ x = 1; x = 0; }} }}\n"));
    for file in ["alone.pal", "beside.pal"] {
        let (status, report) = said(folder.path(), &format!("check --ask hopeless {file}"));
        assert!(status == 3 && report.contains("locked sections"), "{file}: {report}");
    }
    assert_eq!(said(folder.path(), "check --ask hangs alone.pal").0, 1);
}

#[test]
fn nobody_is_called_stuck_who_waits_for_a_grace_period() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "C rmin\n{ x=0; }\nP0 (int *x) { rcu_read_lock(); int r0 = READ_ONCE(*x); rcu_read_unlock(); }\n\
        P1 (int *x) { synchronize_rcu(); WRITE_ONCE(*x, 1); }\nexists (0:r0=1)\n";
    write(folder.path(), "rmin.litmus", text);
    for model in ["sc", "tso", "c11"] {
        let (status, report) = said(folder.path(), &format!("check --model {model} rmin.litmus"));
        assert!(status == 0 && !report.contains("stuck"), "{model}: {report}");
        assert!(report.contains("hangs    not asked, as threads wait for grace periods"), "{model}: {report}");
    }
    for line in ["check --ask hangs rmin.litmus", "check --ask hopeless rmin.litmus", "fences --ask hangs rmin.litmus"]
    {
        let (status, report) = said(folder.path(), line);
        assert!(status == 2 && report.contains("grace periods"), "{line}: {report}");
    }
}

#[test]
fn an_end_that_never_comes_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program V\ndomain 0..1\naddress x\nthread a { loop { x = 1; x = 0; } }\nfinally { ensure x == 5; }\n";
    write(folder.path(), "v.pal", text);
    let (status, report) = said(folder.path(), "check v.pal --junit log.xml");
    assert!(status == 0 && !report.contains("`finally` holds"), "{report}");
    assert!(report.contains("so what `finally` states was asked of none"), "{report}");
    let log = std::fs::read_to_string(folder.path().join("log.xml")).expect("it is written");
    assert!(log.contains("no stuck state under TSO") && !log.contains("nobody waits for ever"), "{log}");
}

#[test]
fn repairs_say_what_they_are_not_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program F\naddress x\nthread a { store(x, 1, release); }\nthread b { let r = load(x, acquire); }\n\
        finally { ensure x == 7; }\n";
    write(folder.path(), "f.pal", text);
    for line in ["orderings f.pal", "fences f.pal", "fences --model c11 f.pal"] {
        let (status, report) = said(folder.path(), line);
        assert!(status == 0 && report.contains("  not asked here: "), "{line}: {report}");
    }
}

#[test]
fn a_choice_of_attacks_asks_about_robustness_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program A\naddress x, y, z\nthread a { x = 1; let r = z; ensure r == 5; }\n\
        thread b { y = 1; let s = x; }\n";
    write(folder.path(), "a.pal", text);
    for line in [
        "check --attacks 1-1 --ask properties a.pal",
        "prove --attacks 1-1 a.pal",
        "check --attacks 1-1 --model sc a.pal",
        "check --attacks 1-1 --ask robustness,hangs a.pal",
    ] {
        let (status, report) = said(folder.path(), line);
        assert!(status == 2 && report.contains("`--attacks` chooses among the attacks"), "{line}: {report}");
    }
    let (_, report) = said(folder.path(), "check --attacks 1-1 a.pal");
    assert!(report.contains("whether these attacks are feasible, and nothing else"), "{report}");
}
