(** Robustness against C11 (relaxed, acquire and release; fences), end to end: evidence that the net of a program covers no target shows that the
    program is robust, for any number of threads. *)
From Coq Require Import List NArith ZArith Bool FMapPositive Classical.
Import ListNotations.
From Palisade Require Import Net Maps LastEvent Sorting Runs Downward Invariant Upward Programs AttackNet Moves Start Following C11Rules.

Theorem uncoverable_robust P : check_program P = true -> ~ coverable (net_of c11 P) -> robust P.
Proof.
  intros C U threads Inst E X l WF G R. apply NNPP. intros N. apply U.
  destruct WF as [Pt Ptot Rw Rr Rl Rv Rf Mw Ml Mt Mi Mtot Mf] eqn:Q. clear Q.
  destruct (not_robust_success thread location value (behaviour P threads) E (tid X) (lab X) (po X) (rf X) (mo X)
    Pt Ptot Rw Rl Rv Rf Mw Ml Mt Mi Mtot thread_dec Rr l G R N)
    as (k1 & w' & k2 & e & ((Run & Ww & Le & J & Pr & Jo & St & Nu) & Ig) & Fw & ND & Ov).
  assert (Ae : Runs.accesses location value E (lab X) e).
  { destruct Ov as [M|(w & R' & _)]; [right; now destruct (Mw _ _ M)|left; exact (Rr _ _ R')]. }
  eapply (follows c11 ltac:(reflexivity) P C threads Inst E X WF k1 k2 w' e); eauto using c11_sound_rules.
Qed.

(** Each kind of evidence about the net will do. *)

Corollary downward_robust P set hint :
  check_program P = true -> check_downward (net_of c11 P) set hint = true -> robust P.
Proof. eauto using uncoverable_robust, check_downward_sound. Qed.

Corollary separator_robust P siphon rs :
  check_program P = true -> check_separator (net_of c11 P) siphon rs = true -> robust P.
Proof. eauto using uncoverable_robust, check_separator_sound. Qed.

Corollary upward_robust P siphon rs basis hint :
  check_program P = true -> check_upward (net_of c11 P) siphon rs basis hint = true -> robust P.
Proof. eauto using uncoverable_robust, check_upward_sound. Qed.
