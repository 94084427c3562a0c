(** Violations: a graph that is given event by event, and a checker that accepts it only if it is the program's, the model allows
    it, and SC does not. So what the checker accepts shows that the program is not robust. *)
From Coq Require Import List Arith NArith Bool Relations Permutation Lia.
Import ListNotations.
From Palisade Require Import LastEvent AcyclicModels Sorting Runs Programs TSO Drawn.

Section Graph.
  Variable evs : list event.
  Notation n := (length evs).
  Notation H := (events nat (seq 0 n)).
  Notation X := (drawn evs).
  Notation all := (all evs).
  Notation test := (test evs).
  Notation po_b := (po_b evs).
  Notation rf_b := (rf_b evs).
  Notation mo_b := (mo_b evs).
  Notation fr_b := (fr_b evs).
  Hypothesis Fits : fits evs = true.

  Lemma in_events i : H i <-> i < n.
  Proof. unfold events. rewrite in_seq. lia. Qed.

  Lemma fr_spec i j : frel nat (rf X) (mo X) H i j <-> fr_b i j = true.
  Proof.
    split.
    - intros (w & _ & R & M & D). assert (S := rf_spec _ Fits _ _ R). unfold fr_b.
      destruct S as (_ & _ & _ & _ & _ & _ & ->). cbn in M. rewrite M. cbn. now apply negb_true_iff, Nat.eqb_neq.
    - unfold Drawn.fr_b. destruct (src evs i) as [w|] eqn:S; [|discriminate]. intros Q. apply andb_prop in Q. destruct Q as [M D].
      apply negb_true_iff, Nat.eqb_neq in D.
      assert (R : rf X w i) by (cbn; unfold Drawn.rf_b; rewrite S; apply Nat.eqb_refl).
      exists w. split; [|auto]. apply in_events. destruct (rf_spec _ Fits _ _ R). lia.
  Qed.

  (** * A relation that contains the steps and is transitive contains the paths *)

  Definition contains (step rel : nat -> nat -> bool) : bool :=
    all (fun i => all (fun j => negb (step i j) || rel i j)).
  Definition transitive (rel : nat -> nat -> bool) : bool :=
    all (fun i => all (fun j => negb (rel i j) || all (fun k => negb (rel j k) || rel i k))).
  Definition irreflexive (rel : nat -> nat -> bool) : bool := all (fun i => negb (rel i i)).

  Lemma paths_in (S : nat -> nat -> Prop) step rel :
    (forall i j, S i j -> i < n /\ j < n /\ step i j = true) -> contains step rel = true -> transitive rel = true ->
    forall i j, clos_trans nat S i j -> i < n /\ j < n /\ rel i j = true.
  Proof.
    intros St C T i j P. induction P as [i j P|i j k _ (Hi & Hj & I1) _ (_ & Hk & I2)].
    - destruct (St _ _ P) as (Hi & Hj & B). split; auto. split; auto.
      assert (D := all_spec _ _ (all_spec _ _ C i Hi) j Hj). cbn beta in D. now rewrite B in D.
    - split; auto. split; auto. assert (D := all_spec _ _ (all_spec _ _ T i Hi) j Hj). cbn beta in D. rewrite I1 in D.
      assert (F := all_spec _ _ D k Hk). cbn beta in F. now rewrite I2 in F.
  Qed.

  Lemma no_loop rel i : irreflexive rel = true -> i < n -> rel i i = true -> False.
  Proof. intros I Hi R. assert (D := all_spec _ _ I i Hi). cbn beta in D. now rewrite R in D. Qed.

  (** * The models *)

  Definition accesses_b i := test reading i || test writing i.
  Definition eco_step i j := rf_b i j || mo_b i j || fr_b i j.
  Definition sc_step i j := po_b i j || eco_step i j.

  (** The candidates: what the sequences of writes, happens-before and eco are contained in. *)
  Record relations := { sequences : nat -> nat -> bool; happens : nat -> nat -> bool; ecos : nat -> nat -> bool;
    common : nat -> nat -> bool; coherent : nat -> nat -> bool }.
  Variable R : relations.

  Definition sequences_fit : bool :=
    all (fun g => (negb (test writing g) || sequences R g g) &&
      all (fun w => negb (sequences R g w) || all (fun u => negb (rf_b w u && test writing u) || sequences R g u))).
  Definition makes_known_b a g := test releasing a && (((a =? g) && test writing a) || (negb (accesses_b a) && po_b a g)).
  Definition learns_b r b := test acquiring b && (((r =? b) && test reading b) || (negb (accesses_b b) && po_b r b)).
  Definition sync_b a b := negb (all (fun g => negb (makes_known_b a g) || all (fun r =>
    match src evs r with Some w => negb (sequences R g w && learns_b r b) | None => true end))).
  Definition hb_step i j := po_b i j || sync_b i j.

  Definition atomic_b : bool := all (fun u =>
    match src evs u with
    | Some w => negb (test writing u) || (mo_b w u && all (fun x => negb (mo_b w x) || (x =? u) || mo_b u x))
    | None => true
    end).

  Definition c11_b : bool :=
    sequences_fit && contains hb_step (happens R) && transitive (happens R) && irreflexive (happens R) &&
    contains eco_step (ecos R) && transitive (ecos R) &&
    all (fun i => all (fun j => negb (happens R i j && ecos R j i))) && atomic_b.

  Definition ppo_b i j := po_b i j && ((test reading i && accesses_b j) || (test writing i && test writing j)).
  Definition ghb_step i j := ppo_b i j || (rf_b i j && negb (po_b i j)) || mo_b i j || fr_b i j.
  Definition uni_step i j := (po_b i j && same_place evs i j && accesses_b i && accesses_b j) || eco_step i j.
  Definition tso_b : bool :=
    contains ghb_step (common R) && transitive (common R) && irreflexive (common R) &&
    contains uni_step (coherent R) && transitive (coherent R) && irreflexive (coherent R) && atomic_b.

  Lemma atomic_sound : atomic_b = true -> atomic nat (rf X) (mo X) (writes X) H.
  Proof.
    intros A w u Hw Hu Rf Wu. destruct (rf_spec _ Fits _ _ Rf) as (_ & Iu & _ & _ & _ & _ & S). apply writes_test in Wu.
    assert (B := all_spec _ _ A u Iu). cbn beta in B. rewrite S, Wu in B. cbn in B. apply andb_prop in B. destruct B as [B C].
    split; [exact B|]. intros x Hx M. apply in_events in Hx. assert (D := all_spec _ _ C x Hx). cbn beta in D.
    change (mo_b w x = true) in M. rewrite M in D. cbn in D. apply orb_true_iff in D. destruct D as [D|D]; [left; now apply Nat.eqb_eq|right; exact D].
  Qed.

  Lemma eco_step_spec i j : ecostep nat (rf X) (mo X) H i j -> i < n /\ j < n /\ eco_step i j = true.
  Proof.
    intros (Hi & Hj & S). rewrite in_events in Hi, Hj. split; auto. split; auto. unfold eco_step. rewrite fr_spec in S. cbn in S.
    rewrite !orb_true_iff. tauto.
  Qed.

  Lemma accesses_spec i : accesses location value nat (lab X) i <-> accesses_b i = true.
  Proof.
    unfold accesses, accesses_b. rewrite orb_true_iff. rewrite <- reads_test, <- writes_test. reflexivity.
  Qed.
  Lemma not_accesses i : ~ accesses location value nat (lab X) i -> accesses_b i = false.
  Proof. rewrite accesses_spec. now destruct (accesses_b i). Qed.

  Lemma acquires_test i : acquires _ _ (lab X i) -> test acquiring i = true.
  Proof.
    cbn. unfold lab_at, Drawn.test. destruct (ev evs i) as [[[x v|m []] s r]|]; cbn; try tauto.
  Qed.
  Lemma releases_test i : releases _ _ (lab X i) -> test releasing i = true.
  Proof.
    cbn. unfold lab_at, Drawn.test. destruct (ev evs i) as [[[x v|m []] s r]|]; cbn; try tauto.
  Qed.

  Lemma sequences_sound g w : sequences_fit = true -> sequence location value nat (lab X) (rf X) H g w ->
    g < n /\ w < n /\ sequences R g w = true.
  Proof.
    intros F S. induction S as [Hg Wg|w u S (Ig & Iw & IH) Hu Rf Wu].
    - apply in_events in Hg. split; auto. split; auto. assert (A := all_spec _ _ F g Hg). cbn beta in A. apply andb_prop in A.
      change (isW location value nat (lab X) g) with (writes X g) in Wg. apply writes_test in Wg. now rewrite Wg in A.
    - apply in_events in Hu. split; auto. split; auto. assert (A := all_spec _ _ F g Ig). cbn beta in A. apply andb_prop in A.
      destruct A as [_ A]. assert (B := all_spec _ _ A w Iw). cbn beta in B. rewrite IH in B. assert (C := all_spec _ _ B u Hu). cbn beta in C.
      change (isW location value nat (lab X) u) with (writes X u) in Wu. apply writes_test in Wu. change (rf_b w u = true) in Rf.
      now rewrite Rf, Wu in C.
  Qed.

  Lemma sync_spec i j : sequences_fit = true -> sync location value nat (lab X) (po X) (rf X) H i j -> sync_b i j = true.
  Proof.
    intros F (g & w & r & (Hi & Rl & A) & S & Rf & Hr & (Hj & Aq & B)). apply in_events in Hr.
    destruct (sequences_sound _ _ F S) as (Ig & _ & Q). destruct (rf_spec _ Fits _ _ Rf) as (_ & _ & _ & _ & _ & _ & Sr).
    assert (K : makes_known_b i g = true).
    { unfold makes_known_b. rewrite (releases_test _ Rl). cbn. destruct A as [[-> W]|[N P]].
      - change (isW location value nat (lab X) g) with (writes X g) in W. apply writes_test in W. now rewrite Nat.eqb_refl, W.
      - rewrite (not_accesses _ N). change (po_b i g = true) in P. rewrite P. cbn. apply orb_true_r. }
    assert (L : learns_b r j = true).
    { unfold learns_b. rewrite (acquires_test _ Aq). cbn. destruct B as [[-> W]|[N P]].
      - change (isR location value nat (lab X) j) with (reads X j) in W. apply reads_test in W. now rewrite Nat.eqb_refl, W.
      - rewrite (not_accesses _ N). change (po_b r j = true) in P. rewrite P. cbn. apply orb_true_r. }
    unfold sync_b. apply negb_true_iff. apply not_true_iff_false. intros All.
    assert (C := all_spec _ _ All g Ig). cbn beta in C. rewrite K in C. assert (D := all_spec _ _ C r Hr). cbn beta in D.
    rewrite Sr, Q, L in D. discriminate.
  Qed.

  Theorem c11_sound : c11_b = true -> C11_consistent X (seq 0 n).
  Proof.
    unfold c11_b. rewrite !andb_true_iff. intros (((((((F & A) & B) & C) & D) & G) & I) & At).
    assert (Hb : forall i j, hb nat (po X) (sync location value nat (lab X) (po X) (rf X)) H i j -> i < n /\ j < n /\ happens R i j = true).
    { apply paths_in with (step := hb_step); auto. intros i j (Hi & Hj & S). rewrite in_events in Hi, Hj. split; auto. split; auto.
      unfold hb_step. destruct S as [S|S]; [change (po_b i j = true) in S; now rewrite S|]. rewrite (sync_spec _ _ F S). apply orb_true_r. }
    split; [|split; [|now apply atomic_sound]].
    - intros i P. destruct (Hb _ _ P) as (Hi & _ & Q). exact (no_loop _ _ C Hi Q).
    - intros i j P Q. destruct (Hb _ _ P) as (Hi & Hj & P').
      destruct (paths_in _ _ _ eco_step_spec D G _ _ Q) as (_ & _ & Q').
      assert (Z := all_spec _ _ (all_spec _ _ I i Hi) j Hj). cbn beta in Z. now rewrite P', Q' in Z.
  Qed.

  Theorem tso_sound : tso_b = true -> TSO_consistent X (seq 0 n).
  Proof.
    unfold tso_b. rewrite !andb_true_iff. intros ((((((A & B) & C) & D) & G) & I) & At).
    split; [|now apply atomic_sound]. intros i x P. destruct i.
    - assert (Q : x < n /\ x < n /\ common R x x = true); [|destruct Q as (Ix & _ & Q); exact (no_loop _ _ C Ix Q)].
      revert P. apply paths_in with (step := ghb_step); auto. clear x. intros x y (Hx & Hy & S). rewrite in_events in Hx, Hy.
      split; auto. split; auto. unfold ghb_step. rewrite fr_spec in S. rewrite !orb_true_iff.
      destruct S as [[S T]|[[S T]|S]]; [|left; left; right|cbn in S; tauto].
      + left; left; left. unfold ppo_b, accesses_b. rewrite !reads_test, !writes_test in T. change (po_b x y = true) in S. rewrite S. cbn.
        rewrite orb_true_iff, !andb_true_iff, orb_true_iff. exact T.
      + change (rf_b x y = true) in S. rewrite S. cbn. apply negb_true_iff, not_true_iff_false. exact T.
    - assert (Q : x < n /\ x < n /\ coherent R x x = true); [|destruct Q as (Ix & _ & Q); exact (no_loop _ _ I Ix Q)].
      revert P. apply paths_in with (step := uni_step); auto. clear x. intros x y (Hx & Hy & S). rewrite in_events in Hx, Hy.
      split; auto. split; auto. unfold uni_step, eco_step. rewrite fr_spec in S. rewrite !orb_true_iff, !andb_true_iff.
      unfold same_place. rewrite Pos.eqb_eq. unfold poloc in S. rewrite !reads_test, !writes_test in S. unfold accesses_b.
      rewrite !orb_true_iff. cbn in S. unfold place_of in S. cbn in S. tauto.
  Qed.

  (** * SC does not allow it: a cycle *)

  Fixpoint chain (i : nat) (l : list nat) (last : nat) : bool :=
    match l with
    | [] => sc_step i last && (i <? n) && (last <? n)
    | j :: l' => sc_step i j && (i <? n) && (j <? n) && chain j l' last
    end.
  Definition cycle_b (c : list nat) : bool := match c with i :: l => chain i l i | [] => false end.

  Lemma sc_step_sound i j : sc_step i j && (i <? n) && (j <? n) = true -> scstep nat (po X) (rf X) (mo X) H i j.
  Proof.
    rewrite !andb_true_iff, !Nat.ltb_lt. intros ((S & Hi) & Hj). split; [now apply in_events|]. split; [now apply in_events|].
    rewrite fr_spec. unfold sc_step, eco_step in S. rewrite !orb_true_iff in S. cbn. tauto.
  Qed.

  Lemma cycle_sound c : cycle_b c = true -> ~ SC_consistent X (seq 0 n).
  Proof.
    destruct c as [|i l]; [discriminate|]. cbn. intros C S. apply (S i).
    assert (G : forall l i last, chain i l last = true -> hbsc nat (po X) (rf X) (mo X) H i last).
    { clear - Fits. induction l as [|j l IH]; intros i last C; cbn in C.
      - apply t_step. now apply sc_step_sound.
      - apply andb_prop in C. destruct C as [C D]. apply t_trans with j; [apply t_step; now apply sc_step_sound|exact (IH _ _ D)]. }
    apply (G l i i C).
  Qed.
End Graph.

(** * Programs that are not robust *)

(** The threads: those of which there is one, and [others], which start where any number may. *)
Definition starts_fit (P : program) (others : list state) : bool :=
  forallb (fun q => existsb (Pos.eqb q) (unbounded P)) others.

Definition check_violation (model : list event -> relations -> bool) (P : program) (others : list state)
    (evs : list event) (paths : list (list edge)) (R : relations) (cycle : list nat) : bool :=
  starts_fit P others && fits evs && paths_fit evs P 0 (fixed P ++ others) paths && deeds_fit evs P (fixed P ++ others) &&
  model evs R && cycle_b evs cycle.

Definition check_c11_violation := check_violation c11_b.
Definition check_tso_violation := check_violation tso_b.

Lemma starts_sound P others : starts_fit P others = true -> instance P (fixed P ++ others).
Proof.
  intros S. exists others. split; [reflexivity|]. intros q I. unfold starts_fit in S. rewrite forallb_forall in S.
  specialize (S q I). apply existsb_exists in S. destruct S as (r & Ir & Q). apply Pos.eqb_eq in Q. now subst.
Qed.

Theorem check_c11_violation_sound P others evs paths R cycle :
  check_c11_violation P others evs paths R cycle = true -> ~ robust P.
Proof.
  unfold check_c11_violation, check_violation. rewrite !andb_true_iff. intros (((((S & F) & W) & D) & M) & C) Rb.
  apply (cycle_sound evs F cycle C). apply (Rb (fixed P ++ others)); auto using starts_sound, drawn_well_formed.
  - eapply drawn_graph; eauto.
  - eapply c11_sound; eauto.
Qed.

Theorem check_tso_violation_sound P others evs paths R cycle :
  check_tso_violation P others evs paths R cycle = true -> ~ TSO_robust P.
Proof.
  unfold check_tso_violation, check_violation. rewrite !andb_true_iff. intros (((((S & F) & W) & D) & M) & C) Rb.
  apply (cycle_sound evs F cycle C). apply (Rb (fixed P ++ others)); auto using starts_sound, drawn_well_formed.
  - eapply drawn_graph; eauto.
  - eapply tso_sound; eauto.
Qed.
