(** The same for models whose axioms are atomicity and the acyclicity of relations below SC's (x86-TSO is one). *)
From Coq Require Import Relations Classical List.
Import ListNotations.
From Palisade Require Import LastEvent.

Section Acyclic.
  Variable E : Type.
  Variables po rf mo : E -> E -> Prop.
  Variable Wr : E -> Prop.
  Hypothesis mo_dom : forall a b, mo a b -> Wr a /\ Wr b.
  Hypothesis mo_trans : forall a b c, mo a b -> mo b c -> mo a c.
  Hypothesis mo_irr : forall a, ~ mo a a.
  Hypothesis rf_fun : forall a b r, rf a r -> rf b r -> a = b.
  Hypothesis rf_dom : forall a b, rf a b -> Wr a.
  Variable Loc : Type.
  Variable loc : E -> Loc.
  Hypothesis mo_loc : forall a b, mo a b -> loc a = loc b.
  Hypothesis rf_loc : forall a b, rf a b -> loc a = loc b.
  Hypothesis mo_total : forall a b, Wr a -> Wr b -> loc a = loc b -> a = b \/ mo a b \/ mo b a.
  Notation frel := (frel E rf mo).
  Notation scstep := (scstep E po rf mo).
  Notation SC := (SC E po rf mo).
  Notation atomic := (atomic E rf mo Wr).
  Notation behind := (behind E rf mo).
  Notation first := (first E rf mo).

  (** The axioms: [step i P] is acyclic for each [i]. *)
  Variable I : Type.
  Variable step : I -> (E -> Prop) -> E -> E -> Prop.
  Hypothesis step_sc : forall i P x y, step i P x y -> scstep P x y.
  Hypothesis step_mono : forall i (P Q : E -> Prop) x y, (forall z, P z -> Q z) -> step i P x y -> step i Q x y.
  (** In [H + e], what does not touch [e] is of [H]; mo and fr are in each of them. *)
  Hypothesis step_mofr : forall i (P : E -> Prop) x y, P x -> P y -> mo x y \/ frel P x y -> step i P x y.
  Definition consistent P := (forall i x, ~ clos_trans E (step i P) x x) /\ atomic P.

  Lemma step_trans_sc i P x y : clos_trans E (step i P) x y -> hbsc E po rf mo P x y.
  Proof. induction 1; [apply t_step; eauto|eapply t_trans; eauto]. Qed.

  Section Last.
    Variable H : E -> Prop.
    Variable e : E.
    Hypothesis fresh : ~ H e.
    Notation G := (G E H e).
    Hypothesis e_po : forall x, G x -> ~ po e x.
    Hypothesis e_rf : forall x, G x -> ~ rf e x.
    Hypothesis H_sc : SC H.
    Hypothesis step_local : forall i x y, H x -> H y -> step i G x y -> step i H x y.

    (** [e] is consistent iff no path of the model leads from a write behind to it: the bits [k]. *)
    Theorem last_event_consistent' :
      atomic G -> (consistent G <-> forall i a, behind H e a -> ~ clos_trans E (step i G) a e).
    Proof.
      intros At. split.
      - intros [C _] i a [Ha B] T. apply (C i e). eapply t_trans; [apply t_step|exact T].
        apply step_mofr; [right; auto|left; auto|]. destruct B as [B|B]; auto. right. now apply frel_HG.
      - intros K. split; auto. intros i x Cx.
        assert (D : forall x y, clos_trans E (step i G) x y ->
          clos_trans E (step i H) x y \/ (clos_refl_trans E (step i G) x e /\ clos_refl_trans E (step i G) e y)).
        { clear x Cx. induction 1 as [x y S|x y z T1 I1 T2 I2].
          - assert (S' := step_sc _ _ _ _ S). destruct S' as ([Hx| ->] & [Hy| ->] & _).
            + left. apply t_step. auto.
            + right. split; [now apply rt_step|apply rt_refl].
            + right. split; [apply rt_refl|now apply rt_step].
            + right. split; apply rt_refl.
          - assert (R : forall a b, clos_trans E (step i G) a b -> clos_refl_trans E (step i G) a b)
              by (induction 1; [now apply rt_step|eapply rt_trans; eauto]).
            destruct I1 as [A|[A B]]; [destruct I2 as [C|[C D]]|].
            + left. eapply t_trans; eauto.
            + right. split; auto. eapply rt_trans; eauto.
            + right. split; auto. eapply rt_trans; eauto. }
        destruct (D x x Cx) as [A|[A B]]; [exact (H_sc x (step_trans_sc _ _ _ _ A))|].
        assert (T : clos_trans E (step i G) e e).
        { apply rt_t in A. apply rt_t in B. destruct A as [->|A], B as [B|B]; subst; auto. eapply t_trans; eauto. }
        apply clos_trans_t1n in T. inversion T as [? S|a ? S T']; subst.
        + assert (B' := out_sc E po rf mo mo_irr H e e_po e_rf e (step_sc _ _ _ _ S)). destruct B' as [? _]. contradiction.
        + assert (B' := out_sc E po rf mo mo_irr H e e_po e_rf a (step_sc _ _ _ _ S)).
          apply (K i a B'). now apply clos_t1n_trans.
    Qed.
  End Last.

  Hypothesis step_prefix : forall i (H : E -> Prop) e x y, ~ H e -> (forall z, G E H e z -> ~ rf e z) ->
    H x -> H y -> step i (G E H e) x y -> step i H x y.

  Theorem violation_complete' l : sorted E po rf l -> consistent (events E l) -> ~ SC (events E l) ->
    exists l1 e l2 w' f, l = l1 ++ e :: l2 /\ SC (events E l1) /\ ~ events E l1 e /\
      (forall x, LastEvent.G E (events E l1) e x -> ~ po e x /\ ~ rf e x) /\ atomic (LastEvent.G E (events E l1) e) /\
      first (events E l1) e w' /\ events E l1 f /\ clos_refl_trans E (scstep (events E l1)) w' f /\ po f e /\
      (forall i a, behind (events E l1) e a -> ~ clos_trans E (step i (G E (events E l1) e)) a e).
  Proof.
    intros S [Rc Ra] N. apply not_all_not_ex in N.
    destruct (first_prefix E po rf mo l S N) as (l1 & e & l2 & -> & A & x & Hx).
    destruct (S l1 e l2 eq_refl) as [Fr Out].
    assert (Sub : forall z, G E (events E l1) e z -> events E (l1 ++ e :: l2) z)
      by (intros z [Hz| ->]; apply in_or_app; simpl; auto).
    assert (At : atomic (G E (events E l1) e)).
    { intros w u Pw Pu R Wu. destruct (Ra w u (Sub _ Pw) (Sub _ Pu) R Wu). auto. }
    assert (CG : consistent (G E (events E l1) e)).
    { split; auto. intros i y C. apply (Rc i y). clear - C Sub step_mono.
      assert (M : forall u v, clos_trans E (step i (G E (events E l1) e)) u v -> clos_trans E (step i (events E (l1 ++ e :: l2))) u v)
        by (induction 1; [apply t_step; eauto|eapply t_trans; eauto]). auto. }
    assert (P1 : forall y, G E (events E l1) e y -> ~ po e y) by (intros y Hy; apply Out; exact Hy).
    assert (P2 : forall y, G E (events E l1) e y -> ~ rf e y) by (intros y Hy; apply Out; exact Hy).
    assert (B : exists a, behind (events E l1) e a).
    { apply not_all_not_ex. intros None.
      destruct (in_H_or_through_e E po rf mo _ _ P2 _ _ Hx) as [C|[C D]]; [destruct (A _ C)|].
      assert (T : hbsc E po rf mo (G E (events E l1) e) e e).
      { apply rt_t in C. apply rt_t in D. destruct C as [->|C], D as [D|D]; subst; auto. eapply t_trans; eauto. }
      apply clos_trans_t1n in T. inversion T as [? U|? ? U]; subst;
        apply (out_sc E po rf mo mo_irr _ _ P1 P2) in U; eapply None; eauto. }
    destruct (first_exists E rf mo Wr mo_dom mo_trans Loc loc mo_loc rf_loc mo_total _ _ B) as (w' & Fw).
    destruct (proj1 (one_last_event E po rf mo Wr mo_dom mo_trans mo_irr rf_fun _ _ Fr P1 P2 w' Fw At A)) as (f & Hf & Rf & Pf); [eauto|].
    exists l1, e, l2, w', f. split; [reflexivity|]. split; [exact A|]. split; [exact Fr|]. split; [intros y Hy; auto|].
    repeat (split; [assumption|]).
    refine (proj1 (last_event_consistent' (events E l1) e _ _ _ _ _ _) CG); eauto.
  Qed.
End Acyclic.

(** x86-TSO: uniproc and global happens-before, [ppo] being program order but for pure writes before pure reads, and [poloc]
    that between accesses of one location. *)
Section TSO.
  Variable E : Type.
  Variables po rf mo ppo poloc : E -> E -> Prop.
  Hypothesis ppo_po : forall a b, ppo a b -> po a b.
  Hypothesis poloc_po : forall a b, poloc a b -> po a b.
  Definition tso (ghb : bool) (P : E -> Prop) x y := P x /\ P y /\
    (if ghb then ppo x y \/ (rf x y /\ ~ po x y) \/ mo x y \/ frel E rf mo P x y
     else poloc x y \/ rf x y \/ mo x y \/ frel E rf mo P x y).

  Lemma tso_sc i P x y : tso i P x y -> scstep E po rf mo P x y.
  Proof. destruct i; intros (A & B & C); repeat split; auto; intuition auto. Qed.
  Lemma tso_mono i (P Q : E -> Prop) x y : (forall z, P z -> Q z) -> tso i P x y -> tso i Q x y.
  Proof.
    intros S. assert (F : frel E rf mo P x y -> frel E rf mo Q x y) by (intros (w & ? & ?); exists w; auto).
    destruct i; intros (A & B & C); repeat split; auto; intuition auto.
  Qed.
  Lemma tso_mofr i (P : E -> Prop) x y : P x -> P y -> mo x y \/ frel E rf mo P x y -> tso i P x y.
  Proof. destruct i; intros A B C; repeat split; auto; tauto. Qed.
  Lemma tso_prefix i (H : E -> Prop) e x y : ~ H e -> (forall z, G E H e z -> ~ rf e z) ->
    H x -> H y -> tso i (G E H e) x y -> tso i H x y.
  Proof.
    intros N R Hx Hy. assert (F : frel E rf mo (G E H e) x y -> frel E rf mo H x y).
    { intros (w & [Pw| ->] & Rw & ?); [exists w; auto|]. destruct (R x (or_introl Hx) Rw). }
    destruct i; intros (A & B & C); repeat split; auto; intuition auto.
  Qed.
End TSO.
