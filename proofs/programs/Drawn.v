(** Graphs that are given event by event: a checker of whether they are graphs of a program. *)
From Coq Require Import List Arith NArith Bool Relations Permutation Lia.
Import ListNotations.
From Palisade Require Import LastEvent Sorting Runs Programs.

(** * Graphs as lists *)

(** An event is the first write of a location, or what thread [n] does. *)
Inductive deed := Wrote (x : location) (v : value) | Did (n : nat) (a : action).

(** Where it reads from, as a position in the list, and its rank in modification order. *)
Record event := { deed_of : deed; source_of : option nat; rank_of : nat }.

Definition nothing : access := {| is_read := False; is_write := False; at_loc := xH; read_val := xH; written := xH;
  acquires := False; releases := False |}.
Definition label_of_deed (d : deed) : access :=
  match d with
  | Wrote x v => first_write x v
  | Did _ a => match label_of a with Some l => l | None => nothing end
  end.
Definition thread_of (d : deed) : thread := match d with Wrote x _ => First x | Did n _ => Thread n end.

Definition reading (d : deed) : bool := match d with Did _ (Load _ _ _ | Update _ _ _ _ _) => true | _ => false end.
Definition writing (d : deed) : bool := match d with Wrote _ _ | Did _ (Store _ _ _ | Update _ _ _ _ _) => true | _ => false end.
Definition acquiring (d : deed) : bool :=
  match d with Did _ (Load _ _ a | Update _ _ _ a _ | Fence a _) => a | _ => false end.
Definition releasing (d : deed) : bool :=
  match d with Did _ (Store _ _ r | Update _ _ _ _ r | Fence _ r) => r | _ => false end.

Section Graph.
  Variable evs : list event.
  Notation n := (length evs).

  Definition ev (i : nat) : option event := nth_error evs i.
  Definition test (f : deed -> bool) (i : nat) : bool := match ev i with Some e => f (deed_of e) | None => false end.
  Definition lab_at (i : nat) : access := match ev i with Some e => label_of_deed (deed_of e) | None => nothing end.
  Definition tid_at (i : nat) : thread := match ev i with Some e => thread_of (deed_of e) | None => Thread 0 end.
  Definition src (i : nat) : option nat := match ev i with Some e => source_of e | None => None end.
  Definition rank (i : nat) : nat := match ev i with Some e => rank_of e | None => 0 end.

  Definition same_place (i j : nat) : bool := Pos.eqb (at_loc _ _ (lab_at i)) (at_loc _ _ (lab_at j)).
  Definition po_b (i j : nat) : bool := (if thread_dec (tid_at i) (tid_at j) then true else false) && (i <? j).
  Definition rf_b (i j : nat) : bool := match src j with Some w => i =? w | None => false end.
  Definition mo_b (i j : nat) : bool := test writing i && test writing j && same_place i j && (rank i <? rank j).
  Definition fr_b (i j : nat) : bool := match src i with Some w => mo_b w j && negb (i =? j) | None => false end.

  Definition drawn : execution nat := {|
    tid := tid_at; lab := lab_at;
    po := fun i j => po_b i j = true; rf := fun i j => rf_b i j = true; mo := fun i j => mo_b i j = true |}.

  (** ** Checks of all events, pairs and triples *)
  Definition all (f : nat -> bool) : bool := forallb f (seq 0 n).

  Lemma all_spec f : all f = true -> forall i, i < n -> f i = true.
  Proof. unfold all. rewrite forallb_forall. intros H i Hi. apply H. apply in_seq. lia. Qed.

  Definition sources_fit : bool := all (fun j =>
    match src j with
    | None => negb (test reading j)
    | Some i => (i <? j) && test writing i && test reading j && same_place i j &&
                Pos.eqb (read_val _ _ (lab_at j)) (written _ _ (lab_at i))
    end).
  Definition ranks_fit : bool := all (fun i => all (fun j =>
    negb (test writing i && test writing j && same_place i j) || (i =? j) || negb (rank i =? rank j))).
  Definition firsts_fit : bool := all (fun i =>
    match ev i with
    | Some {| deed_of := Wrote x _ |} => all (fun j =>
        (i =? j) || negb (test writing j && Pos.eqb (at_loc _ _ (lab_at j)) x) || mo_b i j)
    | _ => true
    end).
  Definition fits : bool := sources_fit && ranks_fit && firsts_fit.

  Lemma out i : n <= i -> ev i = None.
  Proof. intros. now apply nth_error_None. Qed.

  Lemma reads_test i : reads drawn i <-> test reading i = true.
  Proof.
    unfold reads, test. cbn. unfold lab_at. destruct (ev i) as [[[x v|m []] s r]|]; cbn; split; intros; try tauto; discriminate.
  Qed.
  Lemma writes_test i : writes drawn i <-> test writing i = true.
  Proof.
    unfold writes, test. cbn. unfold lab_at. destruct (ev i) as [[[x v|m []] s r]|]; cbn; split; intros; try tauto; discriminate.
  Qed.

  Lemma test_in f i : test f i = true -> i < n.
  Proof. unfold test. intros H. destruct (le_lt_dec n i); auto. rewrite out in H by auto. discriminate. Qed.

  Lemma po_spec i j : po drawn i j <-> tid_at i = tid_at j /\ i < j.
  Proof.
    cbn. unfold po_b. rewrite andb_true_iff, Nat.ltb_lt. destruct (thread_dec (tid_at i) (tid_at j)); intuition discriminate.
  Qed.

  Hypothesis Fits : fits = true.

  Lemma rf_spec i j : rf drawn i j -> i < j /\ j < n /\ test writing i = true /\ test reading j = true /\
    at_loc _ _ (lab_at i) = at_loc _ _ (lab_at j) /\ read_val _ _ (lab_at j) = written _ _ (lab_at i) /\ src j = Some i.
  Proof.
    intros R. cbn in R. unfold rf_b in R. destruct (src j) as [w|] eqn:S; [|discriminate].
    apply Nat.eqb_eq in R. subst w.
    assert (Hj : j < n). { destruct (le_lt_dec n j); auto. unfold src in S. rewrite out in S by auto. discriminate. }
    unfold fits in Fits. rewrite !andb_true_iff in Fits. destruct Fits as [[A _] _].
    assert (B := all_spec _ A j Hj). cbn beta in B. rewrite S in B. rewrite !andb_true_iff in B.
    destruct B as [[[[B1 B2] B3] B4] B5]. apply Nat.ltb_lt in B1. apply Pos.eqb_eq in B4, B5. auto 8.
  Qed.

  Lemma mo_spec i j : mo drawn i j <-> test writing i = true /\ test writing j = true /\
    at_loc _ _ (lab_at i) = at_loc _ _ (lab_at j) /\ rank i < rank j.
  Proof. cbn. unfold mo_b, same_place. rewrite !andb_true_iff, Pos.eqb_eq, Nat.ltb_lt. tauto. Qed.

  Lemma drawn_well_formed : well_formed drawn.
  Proof.
    assert (F := Fits). unfold fits in F. rewrite !andb_true_iff in F. destruct F as [[_ Rk] Fs].
    split.
    - intros a b H. now apply po_spec in H.
    - intros a b T. rewrite !po_spec. cbn in T. destruct (lt_eq_lt_dec a b) as [[L|Q]|L]; auto.
    - intros a b R. apply rf_spec in R. now apply writes_test.
    - intros a b R. apply rf_spec in R. now apply reads_test.
    - intros a b R. now apply rf_spec in R.
    - intros a b R. now apply rf_spec in R.
    - intros a b r A B. apply rf_spec in A, B. destruct A as (_ & _ & _ & _ & _ & _ & A), B as (_ & _ & _ & _ & _ & _ & B). congruence.
    - intros a b M. apply mo_spec in M. rewrite !writes_test. tauto.
    - intros a b M. now apply mo_spec in M.
    - intros a b c A B. rewrite !mo_spec in *. destruct A as (A1 & A2 & A3 & A4), B as (B1 & B2 & B3 & B4).
      repeat split; auto; [congruence|lia].
    - intros a M. apply mo_spec in M. lia.
    - intros a b Wa Wb L. rewrite writes_test in Wa, Wb. rewrite !mo_spec.
      assert (Ia := test_in _ _ Wa). assert (Ib := test_in _ _ Wb).
      assert (C := all_spec _ (all_spec _ Rk a Ia) b Ib). cbn beta in C. rewrite Wa, Wb in C. unfold same_place in C.
      unfold place_of in L. cbn in L. rewrite L, Pos.eqb_refl in C. cbn in C. apply orb_true_iff in C. destruct C as [C|C].
      + left. now apply Nat.eqb_eq.
      + apply negb_true_iff, Nat.eqb_neq in C. right. destruct (lt_eq_lt_dec (rank a) (rank b)) as [[|]|]; auto; contradiction.
    - intros a b x T Wb L. rewrite writes_test in Wb. cbn in T. unfold tid_at in T. destruct (ev a) as [[d s r]|] eqn:Ea; [|discriminate].
      cbn in T. destruct d as [y v|m c]; cbn in T; [|discriminate]. inversion T. subst y.
      assert (Ia : a < n). { apply nth_error_Some. unfold ev in Ea. congruence. }
      assert (C := all_spec _ Fs a Ia). cbn beta in C. rewrite Ea in C. assert (D := all_spec _ C b (test_in _ _ Wb)). cbn beta in D.
      rewrite Wb in D. unfold place_of in L. cbn in L. rewrite L, Pos.eqb_refl in D. cbn in D. rewrite orb_false_r in D.
      apply orb_true_iff in D. destruct D as [D|D]; [left; now apply Nat.eqb_eq|right; exact D].
  Qed.

  (** * It is a graph of the program *)

  Variable P : program.
  Variable threads : list state.

  Definition action_eqb (a b : action) : bool :=
    match a, b with
    | Internal, Internal => true
    | Load x v a, Load x' v' a' => Pos.eqb x x' && Pos.eqb v v' && eqb a a'
    | Store x v r, Store x' v' r' => Pos.eqb x x' && Pos.eqb v v' && eqb r r'
    | Update x v u a r, Update x' v' u' a' r' => Pos.eqb x x' && Pos.eqb v v' && Pos.eqb u u' && eqb a a' && eqb r r'
    | Fence a r, Fence a' r' => eqb a a' && eqb r r'
    | _, _ => false
    end.
  Lemma action_eqb_eq a b : action_eqb a b = true -> a = b.
  Proof.
    destruct a, b; cbn; try discriminate; auto; rewrite ?andb_true_iff, ?Pos.eqb_eq, ?eqb_true_iff; intros; f_equal; tauto.
  Qed.
  Definition edge_eqb (a b : edge) : bool :=
    Pos.eqb (source a) (source b) && action_eqb (does a) (does b) && Pos.eqb (target a) (target b).
  Lemma edge_eqb_eq a b : edge_eqb a b = true -> a = b.
  Proof.
    destruct a, b. unfold edge_eqb. cbn. rewrite !andb_true_iff, !Pos.eqb_eq. intros [[-> H] ->]. now rewrite (action_eqb_eq _ _ H).
  Qed.

  (** The thread's path: edges of the program, one behind the other. It does these actions. *)
  Fixpoint walks (q : state) (path : list edge) (acts : list action) : bool :=
    match path with
    | [] => match acts with [] => true | _ => false end
    | e :: path' => existsb (edge_eqb e) (edges P) && Pos.eqb (source e) q &&
        if action_eqb (does e) Internal then walks (target e) path' acts
        else match acts with
             | b :: acts' => action_eqb (does e) b && walks (target e) path' acts'
             | [] => false
             end
    end.

  Definition labels (acts : list action) : list access := map (fun a => match label_of a with Some l => l | None => nothing end) acts.

  Lemma walks_can path : forall q acts, walks q path acts = true -> can P q (labels acts).
  Proof.
    induction path as [|e path IH]; intros q acts H; cbn in H.
    - destruct acts; [constructor|discriminate].
    - rewrite !andb_true_iff in H. destruct H as [[A B] C]. apply existsb_exists in A. destruct A as (e' & I & A).
      apply edge_eqb_eq in A. subst e'. apply Pos.eqb_eq in B. subst q.
      destruct (action_eqb (does e) Internal) eqn:D.
      + apply action_eqb_eq in D. apply can_move; auto. rewrite D. reflexivity.
      + destruct acts as [|b acts]; [discriminate|]. apply andb_prop in C. destruct C as [C1 C2]. apply action_eqb_eq in C1. subst b.
        assert (L : exists l, label_of (does e) = Some l) by (destruct (does e); cbn in D |- *; try discriminate; eauto).
        destruct L as (l & L). cbn. rewrite L. apply can_access with (e := e); auto.
  Qed.

  Lemma can_prefix q h h' : can P q (h ++ h') -> can P q h.
  Proof.
    intros C. remember (h ++ h') as k eqn:K. revert h K. induction C as [q|e k Ie Le C IH|e l k Ie Le C IH]; intros h K.
    - destruct h; [constructor|discriminate].
    - apply can_move; auto.
    - destruct h as [|a h]; [constructor|]. cbn in K. inversion K. subst. apply can_access with (e := e); auto.
  Qed.

  Definition acts_of (m : nat) : list action :=
    flat_map (fun e => match deed_of e with Did k a => if k =? m then [a] else [] | _ => [] end) evs.

  (** Each thread with its path; each first write is the first of its location in memory. *)
  Fixpoint paths_fit (m : nat) (starts : list state) (paths : list (list edge)) : bool :=
    match starts, paths with
    | [], [] => true
    | q :: starts', path :: paths' => walks q path (acts_of m) && paths_fit (S m) starts' paths'
    | _, _ => false
    end.
  Definition deeds_fit : bool := all (fun i =>
    match ev i with
    | Some {| deed_of := Wrote x v |} =>
        existsb (fun '(y, u) => Pos.eqb x y && Pos.eqb v u) (memory P) &&
        all (fun j => (i <=? j) || negb (if thread_dec (tid_at j) (First x) then true else false))
    | Some {| deed_of := Did m _ |} => m <? length threads
    | None => true
    end).

  Variable paths : list (list edge).
  Hypothesis Paths : paths_fit 0 threads paths = true.
  Hypothesis Deeds : deeds_fit = true.

  Lemma thread_can m q : nth_error threads m = Some q -> can P q (labels (acts_of m)).
  Proof.
    assert (G : forall starts ps k, paths_fit k starts ps = true -> forall i r, nth_error starts i = Some r -> can P r (labels (acts_of (k + i)))).
    { induction starts as [|r starts IH]; intros [|p ps] k H i r' Hi; cbn in H; try discriminate; [now destruct i|].
      apply andb_prop in H. destruct H as [A B]. destruct i as [|i]; cbn in Hi.
      - inversion Hi. subst. rewrite Nat.add_0_r. eapply walks_can; eauto.
      - rewrite Nat.add_succ_r. apply (IH ps (S k) B i r' Hi). }
    intros H. exact (G _ _ 0 Paths m q H).
  Qed.

  Notation history := (Runs.history thread location value nat tid_at lab_at thread_dec).

  Lemma history_app t a b : history t (a ++ b) = history t a ++ history t b.
  Proof. unfold Runs.history, Runs.of. now rewrite filter_app, map_app. Qed.

  Lemma history_same t i : tid_at i = t -> history t [i] = [lab_at i].
  Proof. intros <-. unfold Runs.history, Runs.of. cbn. destruct (thread_dec (tid_at i) (tid_at i)); [reflexivity|congruence]. Qed.
  Lemma history_other t i : tid_at i <> t -> history t [i] = [].
  Proof. intros D. unfold Runs.history, Runs.of. cbn. destruct (thread_dec (tid_at i) t); [congruence|reflexivity]. Qed.

  Lemma history_acts m : history (Thread m) (seq 0 n) = labels (acts_of m).
  Proof.
    assert (G : forall suf pre, evs = pre ++ suf ->
      history (Thread m) (seq (length pre) (length suf)) =
      labels (flat_map (fun e => match deed_of e with Did k a => if k =? m then [a] else [] | _ => [] end) suf)).
    { induction suf as [|e suf IH]; intros pre Eq; [reflexivity|].
      assert (At : ev (length pre) = Some e) by (unfold ev; rewrite Eq, nth_error_app2, Nat.sub_diag by lia; reflexivity).
      specialize (IH (pre ++ [e])). rewrite app_length in IH. cbn [length] in IH. rewrite Nat.add_1_r in IH.
      rewrite <- app_assoc in IH. specialize (IH Eq).
      cbn [length seq flat_map]. change (length pre :: seq (S (length pre)) (length suf)) with ([length pre] ++ seq (S (length pre)) (length suf)).
      rewrite history_app, IH. unfold labels. rewrite map_app. f_equal.
      assert (T : tid_at (length pre) = thread_of (deed_of e)) by (unfold tid_at; now rewrite At).
      assert (L : lab_at (length pre) = label_of_deed (deed_of e)) by (unfold lab_at; now rewrite At).
      destruct (deed_of e) as [x v|k a]; cbn in T.
      - apply history_other. rewrite T. discriminate.
      - destruct (Nat.eqb_spec k m) as [->|D].
        + rewrite history_same, L by auto. reflexivity.
        + apply history_other. rewrite T. intros Q. inversion Q. contradiction. }
    exact (G evs [] eq_refl).
  Qed.

  Lemma seq_split l1 i l2 : seq 0 n = l1 ++ i :: l2 -> l1 = seq 0 i /\ i < n.
  Proof.
    intros H. assert (L : length l1 + S (length l2) = n) by (rewrite <- (seq_length n 0), H, app_length; reflexivity).
    assert (Hi : nth_error (seq 0 n) (length l1) = Some i) by (rewrite H, nth_error_app2, Nat.sub_diag by lia; reflexivity).
    assert (Q : i = length l1).
    { rewrite (nth_error_nth' _ 0) in Hi by (rewrite seq_length; lia). rewrite seq_nth in Hi by lia. inversion Hi. lia. }
    split; [|lia].
    assert (F : firstn (length l1) (seq 0 n) = l1) by (rewrite H, firstn_app, Nat.sub_diag, firstn_all; cbn; apply app_nil_r).
    rewrite <- F, Q. replace n with (length l1 + S (length l2)) by lia. rewrite seq_app. cbn [seq].
    rewrite firstn_app, seq_length, Nat.sub_diag. cbn. rewrite app_nil_r. rewrite <- (seq_length (length l1) 0) at 1. apply firstn_all.
  Qed.

  Theorem drawn_graph : graph_of P threads drawn (seq 0 n).
  Proof.
    split.
    - intros l1 i l2 H. apply seq_split in H. destruct H as [-> Hi]. split; [rewrite in_seq; lia|].
      intros y Hy. assert (Ly : y <= i) by (destruct Hy as [Hy|Hy]; [apply in_seq in Hy|]; lia). split; intros R.
      + apply po_spec in R. lia.
      + apply rf_spec in R. lia.
    - intros r Ir Rr. apply reads_test in Rr. apply in_seq in Ir.
      assert (F := Fits). unfold fits in F. rewrite !andb_true_iff in F. destruct F as [[A _] _].
      assert (B := all_spec _ A r ltac:(lia)). cbn beta in B. destruct (src r) as [w|] eqn:S; [|rewrite Rr in B; discriminate].
      assert (R : rf drawn w r) by (cbn; unfold rf_b; rewrite S; apply Nat.eqb_refl).
      exists w. split; auto. apply rf_spec in R. apply in_seq. lia.
    - intros l1 i l2 H. assert (H' := H). apply seq_split in H'. destruct H' as [E1 Hi].
      assert (D := all_spec _ Deeds i Hi). cbn beta in D. change (behaviour P threads (tid_at i) (history (tid_at i) l1 ++ [lab_at i])).
      assert (T : forall e, ev i = Some e -> tid_at i = thread_of (deed_of e) /\ lab_at i = label_of_deed (deed_of e))
        by (intros e Ee; unfold tid_at, lab_at; now rewrite Ee).
      destruct (ev i) as [[[x v|m a] s r]|] eqn:Ei; [| |unfold ev in Ei; apply nth_error_None in Ei; lia];
        destruct (T _ eq_refl) as [T1 T2]; cbn [deed_of thread_of] in *; rewrite T1, T2.
      + right. apply andb_prop in D. destruct D as [D1 D2]. apply existsb_exists in D1. destruct D1 as ((y & u) & Iy & D1).
        apply andb_prop in D1. destruct D1 as [Dx Dv]. apply Pos.eqb_eq in Dx, Dv. subst y u. exists v. split; auto.
        assert (Z : history (First x) l1 = []).
        { unfold Runs.history, Runs.of. replace (filter _ l1) with (@nil nat); [reflexivity|]. symmetry.
          assert (N : forall k, In k l1 -> (if thread_dec (tid_at k) (First x) then true else false) = false).
          { intros k Ik. rewrite E1 in Ik. apply in_seq in Ik. assert (C := all_spec _ D2 k ltac:(lia)). cbn beta in C.
            destruct (Nat.leb_spec i k); [lia|]. cbn in C. now apply negb_true_iff in C. }
          clear - N. induction l1 as [|k l IH]; [reflexivity|]. cbn. rewrite N by (simpl; auto). apply IH. intros; apply N; simpl; auto. }
        rewrite Z. reflexivity.
      + apply Nat.ltb_lt in D. destruct (nth_error threads m) as [q|] eqn:Q; [|apply nth_error_None in Q; lia].
        exists q. split; auto. assert (C := thread_can m q Q). rewrite <- history_acts, H in C.
        change (l1 ++ i :: l2) with (l1 ++ [i] ++ l2) in C. rewrite !history_app, app_assoc in C. apply can_prefix in C.
        replace (history (Thread m) [i]) with [label_of_deed (Did m a)] in C; auto.
        rewrite history_same, T2; auto.
  Qed.
End Graph.
