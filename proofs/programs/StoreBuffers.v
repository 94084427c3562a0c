(** The machine of x86-TSO, with a store buffer for each thread, and that each of its computations is an execution that axiomatic
    x86-TSO allows. So a program that is robust against the axioms has no computation that is not SC. *)
From Coq Require Import List Arith Relations Classical Lia.
Import ListNotations.
From Palisade Require Import LastEvent AcyclicModels Sorting Runs Programs TSO.

(** A computation is a list of moves. A store goes into its thread's buffer when it is issued, and into memory when it is committed;
    all else takes effect when it is issued. *)
Inductive move (E : Type) := Issue (a : E) | Commit (a : E).
Arguments Issue {E}. Arguments Commit {E}.

Section Machine.
  Variable P : program.
  Variable threads : list state.
  Variable E : Type.
  Variable X : execution E.
  Variable moves : list (move E).

  Notation isR := (reads X).
  Notation isW := (writes X).
  Notation loc := (place_of X).

  Notation history := (Runs.history thread location value E (tid X) (lab X) thread_dec).

  (** The events of moves, in the order in which they are issued. *)
  Definition events_in (p : list (move E)) : list E := flat_map (fun m => match m with Issue a => [a] | Commit _ => [] end) p.

  Definition issued (i : nat) (a : E) : Prop := nth_error moves i = Some (Issue a).
  Definition committed (i : nat) (a : E) : Prop := nth_error moves i = Some (Commit a).

  (** A store of a thread; first writes are in memory at once. *)
  Definition delayed (a : E) : Prop := isW a /\ ~ isR a /\ exists n, tid X a = Thread n.
  (** At time [i], [a] waits in the buffer of its thread. *)
  Definition waits (i : nat) (a : E) : Prop :=
    delayed a /\ (exists j, j < i /\ issued j a) /\ forall j, j < i -> ~ committed j a.
  Definition takes_effect (i : nat) (a : E) : Prop := (delayed a /\ committed i a) \/ (~ delayed a /\ issued i a).

  (** What [b] reads at time [i]: the newest store of its location in its thread's buffer; else the last write in memory. *)
  Definition from_buffer (i : nat) (w b : E) : Prop :=
    waits i w /\ tid X w = tid X b /\ loc w = loc b /\
    forall v, waits i v -> tid X v = tid X b -> loc v = loc b -> v = w \/ po X v w.
  Definition from_memory (i : nat) (w b : E) : Prop :=
    (forall v, waits i v -> tid X v = tid X b -> loc v <> loc b) /\ isW w /\ loc w = loc b /\
    exists j, j < i /\ takes_effect j w /\ forall k v, j < k < i -> takes_effect k v -> isW v -> loc v <> loc b.

  Record computation : Prop := {
    (* each event is issued once, each store is committed once, the oldest of a buffer first *)
    c_issued : forall a, exists i, issued i a;
    c_once : NoDup moves;
    c_commit : forall i a, committed i a -> waits i a /\ forall b, waits i b -> tid X b = tid X a -> b = a \/ po X a b;
    c_empty : forall a, delayed a -> exists i, committed i a;
    (* what threads do, and what reads find; an update finds its thread's buffer empty *)
    c_program : forall p a q, moves = p ++ Issue a :: q ->
      behaviour P threads (tid X a)
        (history (tid X a) (events_in p) ++ [lab X a]);
    c_reads : forall i b, issued i b -> isR b -> exists w, rf X w b /\ read_val _ _ (lab X b) = written _ _ (lab X w) /\
      (from_buffer i w b \/ from_memory i w b);
    c_update : forall i b, issued i b -> isR b -> isW b -> forall v, waits i v -> tid X v <> tid X b;
    c_first : forall i a x, issued i a -> tid X a = First x -> isW a /\ ~ isR a /\ loc a = x /\
      forall j b, takes_effect j b -> isW b -> loc b = x -> i <= j;
    (* the trace: program order is the order of issuing, modification order that of taking effect *)
    c_po : forall a b, po X a b <-> tid X a = tid X b /\ exists i j, issued i a /\ issued j b /\ i < j;
    c_mo : forall a b, mo X a b <-> isW a /\ isW b /\ loc a = loc b /\ exists i j, takes_effect i a /\ takes_effect j b /\ i < j;
    c_rf : forall a b, rf X a b -> isR b /\ forall w, rf X w b -> w = a }.

  Hypothesis C : computation.

  Lemma nth_once (m : move E) i j : nth_error moves i = Some m -> nth_error moves j = Some m -> i = j.
  Proof.
    intros Hi Hj. eapply NoDup_nth_error; [apply (c_once C)| |congruence]. apply nth_error_Some. congruence.
  Qed.
  Lemma issued_once a i j : issued i a -> issued j a -> i = j.
  Proof. apply nth_once. Qed.
  Lemma issued_same i a b : issued i a -> issued i b -> a = b.
  Proof. unfold issued. congruence. Qed.

  Lemma effect_once a i j : takes_effect i a -> takes_effect j a -> i = j.
  Proof. intros [[D A]|[D A]] [[D' B]|[D' B]]; try contradiction; eapply nth_once; eauto. Qed.
  Lemma effect_same i a b : takes_effect i a -> takes_effect i b -> a = b.
  Proof. unfold takes_effect, issued, committed. intros [[_ A]|[_ A]] [[_ B]|[_ B]]; congruence. Qed.

  Lemma effect_exists a : exists i, takes_effect i a.
  Proof.
    destruct (classic (delayed a)) as [D|D].
    - destruct (c_empty C a D) as (i & H). exists i. left. auto.
    - destruct (c_issued C a) as (i & H). exists i. right. auto.
  Qed.

  (** An event takes effect when it is issued or later. *)
  Lemma effect_late a i j : issued i a -> takes_effect j a -> i <= j.
  Proof.
    intros I [[D H]|[D H]].
    - destruct (c_commit C _ _ H) as ((_ & (k & L & I') & _) & _). rewrite (issued_once _ _ _ I I'). lia.
    - rewrite (issued_once _ _ _ I H). lia.
  Qed.
  Lemma effect_read a i : isR a -> takes_effect i a -> issued i a.
  Proof. intros R [[(_ & N & _) _]|[_ H]]; [contradiction|auto]. Qed.
  Lemma read_effect a i : isR a -> issued i a -> takes_effect i a.
  Proof. intros R I. right. split; auto. intros (_ & N & _). auto. Qed.

  (** From when it is issued until it is committed, a store waits. *)
  Lemma waiting a i j k : delayed a -> issued i a -> takes_effect j a -> i < k <= j -> waits k a.
  Proof.
    intros D I [[_ H]|[N _]] L; [|contradiction]. split; auto. split; [exists i; split; auto; lia|].
    intros m Hm Cm. assert (m = j) by (eapply nth_once; eauto). lia.
  Qed.
  Lemma waits_effect a i j : waits i a -> takes_effect j a -> i <= j.
  Proof.
    intros (D & _ & N) [[_ H]|[D' _]]; [|contradiction]. destruct (le_lt_dec i j); auto. destruct (N j); auto.
  Qed.

  (** Stores of a thread take effect in the order in which they are issued; an update waits for those before it. *)
  Lemma in_order a b i j i' j' : isW a -> isW b -> tid X a = tid X b -> issued i a -> issued j b -> i < j ->
    takes_effect i' a -> takes_effect j' b -> i' < j'.
  Proof.
    intros Wa Wb T Ia Ib L Ea Eb. assert (Lb := effect_late _ _ _ Ib Eb). assert (La := effect_late _ _ _ Ia Ea).
    destruct (classic (delayed a)) as [Da|Na].
    - destruct (le_lt_dec j' i') as [G|]; auto. exfalso.
      assert (Wt : waits j' a) by (apply (waiting a i i'); auto; lia).
      destruct (classic (delayed b)) as [Db|Nb].
      + destruct Eb as [[_ H]|[N _]]; [|contradiction]. destruct (c_commit C _ _ H) as (_ & F).
        destruct (F a Wt T) as [->|Pb].
        * assert (i = j) by (eapply issued_once; eauto). lia.
        * apply (c_po C) in Pb. destruct Pb as (_ & i1 & j1 & H1 & H2 & L1).
          rewrite (issued_once _ _ _ H1 Ib), (issued_once _ _ _ H2 Ia) in L1. lia.
      + assert (R : isR b).
        { apply NNPP. intros N. apply Nb. split; auto. split; auto. rewrite <- T. apply Da. }
        destruct Eb as [[N _]|[_ H]]; [contradiction|]. exact (c_update C _ _ H R Wb a Wt T).
    - destruct Ea as [[N _]|[_ H]]; [contradiction|]. rewrite (issued_once _ _ _ H Ia). lia.
  Qed.

  (** ** What is read: when its writer and its successors take effect *)

  Lemma rf_source w b i : rf X w b -> issued i b -> read_val _ _ (lab X b) = written _ _ (lab X w) /\
    (from_buffer i w b \/ from_memory i w b).
  Proof.
    intros R I. destruct (c_rf C _ _ R) as [Rb U]. destruct (c_reads C _ _ I Rb) as (v & Rv & V & S).
    rewrite <- (U v Rv). auto.
  Qed.

  Lemma rf_writes w b : rf X w b -> isW w /\ loc w = loc b.
  Proof.
    intros R. destruct (c_issued C b) as (i & I). destruct (rf_source _ _ _ R I) as (_ & [S|S]).
    - destruct S as ((D & _) & _ & L & _). split; auto. apply D.
    - destruct S as (_ & W & L & _). auto.
  Qed.

  (** A write of the location behind the one that is read takes effect after the read. *)
  Lemma overwritten_late w b x i j : rf X w b -> mo X w x -> x <> b -> issued i b -> takes_effect j x -> i < j.
  Proof.
    intros R M D I Ex. apply (c_mo C) in M. destruct M as (Ww & Wx & L & k & j' & Ew & Ex' & Lt).
    assert (j' = j) by (eapply effect_once; eauto). subst j'. destruct (rf_writes _ _ R) as (_ & Lb).
    destruct (rf_source _ _ _ R I) as (_ & [S|S]).
    - destruct S as (Wt & _). assert (H := waits_effect _ _ _ Wt Ew). lia.
    - destruct S as (_ & _ & _ & k' & Lk & Ew' & No). assert (k' = k) by (eapply effect_once; eauto). subst k'.
      destruct (le_lt_dec j i) as [G|]; auto. exfalso. destruct (Nat.eq_dec j i) as [->|Ne].
      + apply D. assert (Rb := proj1 (c_rf C _ _ R)). apply (effect_same i); auto. now apply read_effect.
      + apply (No j x); auto; [lia|congruence].
  Qed.

  (** A write of one's own thread that comes before a read takes effect no later than what is read. *)
  Lemma own_write_early a b w i j k : isW a -> loc a = loc b -> po X a b -> isR b -> rf X w b -> takes_effect i a -> takes_effect j w -> issued k b ->
    i <= j.
  Proof.
    intros Wa L Po Rb R Ea Ew I. apply (c_po C) in Po. destruct Po as (T & i1 & k1 & Ia & Ib & Lt).
    assert (k1 = k) by (eapply issued_once; eauto). subst k1.
    destruct (rf_source _ _ _ R I) as (_ & [S|S]).
    - destruct S as (Wt & Tw & Lw & New). assert (Hw := waits_effect _ _ _ Wt Ew). destruct (le_lt_dec i j); auto. exfalso.
      assert (Da : delayed a).
      { apply NNPP. intros N. destruct Ea as [[D _]|[_ H]]; [contradiction|]. rewrite (issued_once _ _ _ H Ia) in *. lia. }
      destruct (New a) as [->|Q]; [apply (waiting a i1 i); auto; lia|auto|auto| |].
      + assert (i = j) by (eapply effect_once; eauto). lia.
      + apply (c_po C) in Q. destruct Q as (Tq & p & q & Ip & Iq & Lq).
        assert (i < j); [|lia]. eapply (in_order a w); eauto. apply Wt.
    - destruct S as (No & _ & _ & m & Lm & Ew' & Last). assert (m = j) by (eapply effect_once; eauto). subst m.
      destruct (le_lt_dec i j); auto. exfalso. destruct (le_lt_dec k i) as [G|G].
      + assert (Da : delayed a).
        { apply NNPP. intros N. destruct Ea as [[D _]|[_ H]]; [contradiction|]. rewrite (issued_once _ _ _ H Ia) in *. lia. }
        apply (No a); auto. apply (waiting a i1 i); auto.
      + apply (Last i a); auto.
  Qed.

  (** What is read takes effect before a later write of one's own thread to the location. *)
  Lemma read_before_write a b w i j : isR a -> rf X w a -> isW b -> loc a = loc b -> po X a b -> takes_effect i w -> takes_effect j b -> i < j.
  Proof.
    intros Ra R Wb L Po Ew Eb. apply (c_po C) in Po. destruct Po as (T & i1 & k1 & Ia & Ib & Lt).
    assert (Lb := effect_late _ _ _ Ib Eb).
    destruct (rf_source _ _ _ R Ia) as (_ & [S|S]).
    - destruct S as (Wt & Tw & Lw & _). assert (Wt' := Wt). destruct Wt' as (Dw & (p & Lp & Ip) & _).
      eapply (in_order w b p k1); eauto; [apply Dw|congruence|lia].
    - destruct S as (_ & _ & _ & m & Lm & Ew' & _). assert (m = i) by (eapply effect_once; eauto). lia.
  Qed.

  (** Two reads of one's own thread. *)
  Lemma reads_in_order a b w v i j : isR a -> isR b -> loc a = loc b -> po X a b -> rf X w a -> rf X v b ->
    takes_effect i w -> takes_effect j v -> i <= j.
  Proof.
    intros Ra Rb L Po R R' Ew Ev. assert (Po' := Po). apply (c_po C) in Po'. destruct Po' as (T & i1 & k1 & Ia & Ib & Lt).
    destruct (rf_writes _ _ R) as (Ww & Lw).
    destruct (rf_source _ _ _ R Ia) as (_ & [S|S]).
    - destruct S as (Wt & Tw & _ & _). assert (Wt' := Wt). destruct Wt' as (Dw & (p & Lp & Ip) & _).
      eapply (own_write_early w b v i j k1); eauto; [congruence|]. apply (c_po C). split; [congruence|]. exists p, k1. repeat split; auto. lia.
    - destruct S as (_ & _ & _ & m & Lm & Ew' & _). assert (m = i) by (eapply effect_once; eauto). subst m.
      destruct (rf_source _ _ _ R' Ib) as (_ & [S|S]).
      + destruct S as (Wt & _). assert (H := waits_effect _ _ _ Wt Ev). lia.
      + destruct S as (_ & _ & _ & m & Lm' & Ev' & Last). assert (m = j) by (eapply effect_once; eauto). subst m.
        destruct (le_lt_dec i j); auto. exfalso. apply (Last i w); auto; [lia|congruence].
  Qed.
  (** * The trace of a computation is an execution *)

  Lemma rf_memory w b i j : rf X w b -> ~ po X w b -> issued i b -> takes_effect j w -> j < i.
  Proof.
    intros R N I Ew. destruct (rf_source _ _ _ R I) as (_ & [S|S]).
    - destruct S as ((_ & (k & L & Ik) & _) & T & _). destruct N. apply (c_po C). split; auto. exists k, i. auto.
    - destruct S as (_ & _ & _ & k & L & Ew' & _). now rewrite (effect_once _ _ _ Ew Ew').
  Qed.

  (** An update reads from memory. *)
  Lemma rf_update w u i j : rf X w u -> isW u -> issued i u -> takes_effect j w -> j < i.
  Proof.
    intros R W I Ew. destruct (rf_source _ _ _ R I) as (_ & [S|S]).
    - destruct S as (Wt & T & _). destruct (c_update C _ _ I (proj1 (c_rf C _ _ R)) W _ Wt T).
    - destruct S as (_ & _ & _ & k & L & Ew' & _). now rewrite (effect_once _ _ _ Ew Ew').
  Qed.

  Lemma rf_before w b i j : rf X w b -> issued i w -> issued j b -> i < j.
  Proof.
    intros R Iw Ib. destruct (rf_source _ _ _ R Ib) as (_ & [S|S]).
    - destruct S as ((_ & (k & L & Ik) & _) & _). now rewrite (issued_once _ _ _ Iw Ik).
    - destruct S as (_ & _ & _ & k & L & Ew & _). assert (H := effect_late _ _ _ Iw Ew). lia.
  Qed.

  Lemma trace_well_formed : well_formed X.
  Proof.
    split.
    - intros a b H. now apply (c_po C) in H.
    - intros a b T. destruct (c_issued C a) as (i & Ia), (c_issued C b) as (j & Ib).
      destruct (lt_eq_lt_dec i j) as [[L|Q]|L].
      + right. left. apply (c_po C). eauto 6.
      + left. subst. eapply issued_same; eauto.
      + right. right. apply (c_po C). eauto 6.
    - intros a b R. now apply rf_writes in R.
    - intros a b R. now apply (c_rf C) in R.
    - intros a b R. now apply rf_writes in R.
    - intros a b R. destruct (c_issued C b) as (i & I). now destruct (rf_source _ _ _ R I).
    - intros a b r A B. symmetry. now apply (c_rf C _ _ A).
    - intros a b M. apply (c_mo C) in M. tauto.
    - intros a b M. now apply (c_mo C) in M.
    - intros a b c A B. rewrite (c_mo C) in *. destruct A as (A1 & A2 & A3 & i & j & Ei & Ej & L), B as (B1 & B2 & B3 & j' & k & Ej' & Ek & L').
      rewrite (effect_once _ _ _ Ej' Ej) in L'. repeat split; auto; [congruence|]. exists i, k. repeat split; auto. lia.
    - intros a M. apply (c_mo C) in M. destruct M as (_ & _ & _ & i & j & Ei & Ej & L). rewrite (effect_once _ _ _ Ei Ej) in L. lia.
    - intros a b Wa Wb L. destruct (effect_exists a) as (i & Ei), (effect_exists b) as (j & Ej).
      rewrite !(c_mo C). destruct (lt_eq_lt_dec i j) as [[Lt|Q]|Lt]; [right; left|left|right; right].
      + repeat split; auto. eauto.
      + subst. eapply effect_same; eauto.
      + repeat split; auto. eauto.
    - intros a b x T Wb L. destruct (c_issued C a) as (i & Ia). destruct (c_first C _ _ _ Ia T) as (Wa & _ & La & F).
      destruct (effect_exists b) as (j & Ej). assert (Le := F _ _ Ej Wb L).
      assert (Ea : takes_effect i a). { right. split; auto. intros (_ & _ & n & Q). congruence. }
      destruct (Nat.eq_dec i j) as [->|D]; [left; eapply effect_same; eauto|]. right. apply (c_mo C). repeat split; auto; [congruence|].
      exists i, j. repeat split; auto. lia.
  Qed.

  Lemma events_split ms l1 e l2 : events_in ms = l1 ++ e :: l2 -> exists p q, ms = p ++ Issue e :: q /\ l1 = events_in p.
  Proof.
    revert l1. induction ms as [|[a|a] ms IH]; intros l1 H; cbn in H.
    - destruct l1; discriminate.
    - destruct l1 as [|b l1]; cbn in H; inversion H; subst; [exists [], ms; auto|].
      destruct (IH _ H2) as (p & q & -> & ->). exists (Issue b :: p), q. auto.
    - destruct (IH _ H) as (p & q & -> & ->). exists (Commit a :: p), q. auto.
  Qed.

  Lemma events_issued p q y : moves = p ++ q -> In y (events_in p) -> exists i, i < length p /\ issued i y.
  Proof.
    intros Em I. unfold events_in in I. apply in_flat_map in I. destruct I as ([a|a] & I & Q); [|destruct Q].
    destruct Q as [->|[]]. apply In_nth_error in I. destruct I as (i & Hi).
    assert (L : i < length p) by (apply nth_error_Some; congruence). exists i. split; auto. unfold issued. now rewrite Em, nth_error_app1.
  Qed.

  Lemma all_events a : In a (events_in moves).
  Proof.
    destruct (c_issued C a) as (i & I). apply nth_error_In in I. apply in_flat_map. exists (Issue a). simpl. auto.
  Qed.

  Theorem trace_graph : graph_of P threads X (events_in moves).
  Proof.
    split.
    - intros l1 e l2 H. apply events_split in H. destruct H as (p & q & Em & ->).
      assert (Ie : issued (length p) e) by (unfold issued; rewrite Em, nth_error_app2, Nat.sub_diag by lia; reflexivity).
      assert (Before : forall y, In y (events_in p) -> exists i, i < length p /\ issued i y) by (intros y; now apply events_issued with (q := Issue e :: q)).
      split.
      + intros I. destruct (Before _ I) as (i & L & Ii). rewrite (issued_once _ _ _ Ii Ie) in L. lia.
      + intros y Hy. assert (Y : exists i, i <= length p /\ issued i y).
        { destruct Hy as [Hy| ->]; [destruct (Before _ Hy) as (i & L & Ii); exists i; split; auto; lia|eauto]. }
        destruct Y as (i & L & Iy). split; intros R.
        * apply (c_po C) in R. destruct R as (_ & j & k & Ij & Ik & Lt).
          rewrite (issued_once _ _ _ Ij Ie), (issued_once _ _ _ Ik Iy) in Lt. lia.
        * assert (H := rf_before _ _ _ _ R Ie Iy). lia.
    - intros r _ Rr. destruct (c_issued C r) as (i & I). destruct (c_reads C _ _ I Rr) as (w & R & _). exists w. split; auto using all_events.
    - intros l1 e l2 H. apply events_split in H. destruct H as (p & q & Em & ->). exact (c_program C _ _ _ Em).
  Qed.

  (** ** The common order is the order in which events take effect *)

  Lemma ghb_in_order a b : tso E (po X) (rf X) (mo X) (ppo X) (poloc X) true (events E (events_in moves)) a b ->
    exists i j, takes_effect i a /\ takes_effect j b /\ i < j.
  Proof.
    intros (_ & _ & S). destruct (effect_exists a) as (i & Ea), (effect_exists b) as (j & Eb). exists i, j. split; auto. split; auto.
    destruct (c_issued C a) as (i' & Ia), (c_issued C b) as (j' & Ib).
    assert (La := effect_late _ _ _ Ia Ea). assert (Lb := effect_late _ _ _ Ib Eb).
    destruct S as [[Po S]|[[R N]|[M|(w & _ & R & M & D)]]].
    - assert (Po' := Po). apply (c_po C) in Po'. destruct Po' as (T & i1 & j1 & I1 & J1 & L).
      rewrite (issued_once _ _ _ I1 Ia), (issued_once _ _ _ J1 Ib) in L. destruct S as [[Ra _]|[Wa Wb]].
      + assert (H := effect_read _ _ Ra Ea). rewrite (issued_once _ _ _ Ia H) in *. lia.
      + eapply (in_order a b i' j'); eauto.
    - assert (Rb := proj1 (c_rf C _ _ R)). assert (H := effect_read _ _ Rb Eb). eapply rf_memory; eauto.
    - apply (c_mo C) in M. destruct M as (_ & _ & _ & i1 & j1 & E1 & E2 & L).
      now rewrite (effect_once _ _ _ Ea E1), (effect_once _ _ _ Eb E2).
    - assert (Ra := proj1 (c_rf C _ _ R)). assert (H := effect_read _ _ Ra Ea). eapply overwritten_late; eauto.
  Qed.

  (** ** Each location is coherent: a write counts by when it takes effect, a load by what it reads, and then by when it is issued *)

  Definition key (a : E) (k t : nat) : Prop :=
    (isW a /\ takes_effect k a /\ t = 0) \/ (~ isW a /\ exists w i, rf X w a /\ takes_effect k w /\ issued i a /\ t = S i).

  Lemma key_once a k t k' t' : key a k t -> key a k' t' -> k = k' /\ t = t'.
  Proof.
    intros [(W & A & ->)|(N & w & i & R & A & I & ->)] [(W' & A' & ->)|(N' & w' & i' & R' & A' & I' & ->)]; try contradiction.
    - split; auto. eapply effect_once; eauto.
    - assert (w' = w) by (apply (proj2 (c_rf C _ _ R)); auto). subst. split; [eapply effect_once; eauto|].
      f_equal. eapply issued_once; eauto.
  Qed.

  Lemma key_exists a : isR a \/ isW a -> exists k t, key a k t.
  Proof.
    intros A. destruct (classic (isW a)) as [W|N].
    - destruct (effect_exists a) as (k & Ek). exists k, 0. left. auto.
    - destruct A as [Ra|]; [|contradiction]. destruct (c_issued C a) as (i & I). destruct (c_reads C _ _ I Ra) as (w & R & _).
      destruct (effect_exists w) as (k & Ek). exists k, (S i). right. split; auto. exists w, i. auto.
  Qed.

  Lemma uni_in_order a b : tso E (po X) (rf X) (mo X) (ppo X) (poloc X) false (events E (events_in moves)) a b ->
    exists k t k' t', key a k t /\ key b k' t' /\ (k < k' \/ (k = k' /\ t < t')).
  Proof.
    intros (_ & _ & S).
    assert (Acc : (isR a \/ isW a) /\ (isR b \/ isW b)).
    { destruct S as [S|[R|[M|(w & _ & R & M & _)]]].
      - destruct S as (_ & _ & A & B). auto.
      - split; [right; now apply rf_writes in R|left; now apply (c_rf C) in R].
      - apply (c_mo C) in M. tauto.
      - apply (c_mo C) in M. split; [left; now apply (c_rf C) in R|tauto]. }
    destruct Acc as [Aa Ab]. destruct (key_exists a Aa) as (k & t & Ka), (key_exists b Ab) as (k' & t' & Kb).
    exists k, t, k', t'. split; auto. split; auto.
    destruct S as [(Po & L & _ & _)|[R|[M|(w & _ & R & M & D)]]].
    - assert (Po' := Po). apply (c_po C) in Po'. destruct Po' as (T & i & j & Ia & Ib & Lt).
      destruct Ka as [(Wa & Ea & ->)|(Na & w & i' & Ra & Ea & Ia' & ->)], Kb as [(Wb & Eb & ->)|(Nb & v & j' & Rb & Eb & Ib' & ->)].
      + left. eapply (in_order a b i j); eauto.
      + assert (k <= k') by (eapply (own_write_early a b v); eauto; now apply (c_rf C) in Rb). lia.
      + left. eapply (read_before_write a b w); eauto. now apply (c_rf C) in Ra.
      + assert (k <= k') by (eapply (reads_in_order a b w v); eauto; [now apply (c_rf C) in Ra|now apply (c_rf C) in Rb]).
        rewrite (issued_once _ _ _ Ia' Ia), (issued_once _ _ _ Ib' Ib). lia.
    - destruct (rf_writes _ _ R) as (Wa & _). destruct Ka as [(_ & Ea & ->)|(Na & _)]; [|contradiction].
      destruct Kb as [(Wb & Eb & ->)|(Nb & v & j' & Rb & Eb & Ib' & ->)].
      + left. assert (Rb := proj1 (c_rf C _ _ R)). eapply rf_update; eauto. now apply effect_read.
      + right. assert (a = v) by (apply (proj2 (c_rf C _ _ Rb)); auto). subst v. split; [eapply effect_once; eauto|lia].
    - apply (c_mo C) in M. destruct M as (Wa & Wb & _ & i & j & Ea & Eb & Lt).
      destruct Ka as [(_ & Ea' & ->)|(Na & _)]; [|contradiction]. destruct Kb as [(_ & Eb' & ->)|(Nb & _)]; [|contradiction].
      left. now rewrite (effect_once _ _ _ Ea' Ea), (effect_once _ _ _ Eb' Eb).
    - left. assert (M' := M). apply (c_mo C) in M'. destruct M' as (Ww & Wb & _ & i & j & Ew & Eb & Lt).
      destruct Kb as [(_ & Eb' & ->)|(Nb & _)]; [|contradiction]. rewrite (effect_once _ _ _ Eb' Eb).
      destruct Ka as [(Wa & Ea & ->)|(Na & v & i' & Ra & Ea & Ia' & ->)].
      + assert (Ra := proj1 (c_rf C _ _ R)). eapply overwritten_late; eauto. now apply effect_read.
      + assert (w = v) by (apply (proj2 (c_rf C _ _ Ra)); auto). subst v. now rewrite (effect_once _ _ _ Ea Ew).
  Qed.

  Theorem trace_consistent : TSO_consistent X (events_in moves).
  Proof.
    split.
    - intros [|] x T.
      + assert (G : forall a b, clos_trans E (tso E (po X) (rf X) (mo X) (ppo X) (poloc X) true (events E (events_in moves))) a b ->
          exists i j, takes_effect i a /\ takes_effect j b /\ i < j).
        { induction 1 as [a b S|a b c _ (i & j & Ei & Ej & L) _ (j' & k & Ej' & Ek & L')]; [now apply ghb_in_order|].
          exists i, k. rewrite (effect_once _ _ _ Ej' Ej) in L'. repeat split; auto. lia. }
        destruct (G _ _ T) as (i & j & Ei & Ej & L). rewrite (effect_once _ _ _ Ei Ej) in L. lia.
      + assert (G : forall a b, clos_trans E (tso E (po X) (rf X) (mo X) (ppo X) (poloc X) false (events E (events_in moves))) a b ->
          exists k t k' t', key a k t /\ key b k' t' /\ (k < k' \/ (k = k' /\ t < t'))).
        { induction 1 as [a b S|a b c _ (k & t & k' & t' & Ka & Kb & L) _ (k1 & t1 & k2 & t2 & Kb' & Kc & L')]; [now apply uni_in_order|].
          destruct (key_once _ _ _ _ _ Kb Kb') as [<- <-]. exists k, t, k2, t2. repeat split; auto. lia. }
        destruct (G _ _ T) as (k & t & k' & t' & Ka & Kb & L). destruct (key_once _ _ _ _ _ Ka Kb) as [<- <-]. lia.
    - intros w u _ _ R Wu. destruct (c_issued C u) as (i & Iu), (effect_exists w) as (j & Ew).
      assert (Ru := proj1 (c_rf C _ _ R)). assert (Eu := read_effect _ _ Ru Iu). destruct (rf_writes _ _ R) as (Ww & L).
      split.
      + apply (c_mo C). repeat split; auto. exists j, i. repeat split; auto. eapply rf_update; eauto.
      + intros x _ M. destruct (classic (x = u)) as [|D]; auto. right. apply (c_mo C). assert (M' := M). apply (c_mo C) in M'.
        destruct M' as (_ & Wx & Lx & _ & k & _ & Ex & _). repeat split; auto; [congruence|]. exists i, k. repeat split; auto.
        eapply overwritten_late; eauto.
  Qed.
End Machine.

(** * The claim about the machine: each computation has the trace of one that is SC *)
Definition machine_robust (P : program) : Prop :=
  forall threads, instance P threads ->
  forall (E : Type) (X : execution E) (moves : list (move E)),
  computation P threads E X moves -> SC_consistent X (events_in E moves).

Theorem TSO_robust_machine P : TSO_robust P -> machine_robust P.
Proof.
  intros R threads I E X moves C. apply (R threads I E X); eauto using trace_well_formed, trace_graph, trace_consistent.
Qed.
