(** Runs that end in a last event are followed in the program's net, by the rules of any model of memory that are sound. *)
From Coq Require Import List NArith Lia Bool Relations Permutation FMapPositive Classical.
Import ListNotations.
From Palisade Require Import Net Maps LastEvent Sorting Runs Programs AttackNet Moves Start.

Section Following.
  Variable rl : rules.
  Hypothesis fence_apart : forall a r, fence_mark rl a r Apart = Apart.
  Variable P : program.
  Hypothesis checked : check_program P = true.
  Notation locs := (map fst (memory P)).
  Let distinct : NoDup locs := proj1 (check_program_sound P checked).

  Variable threads : list state.
  Hypothesis Inst : instance P threads.
  Variable E : Type.
  Variable X : execution E.
  Hypothesis WF : well_formed X.

  Notation scstep := (LastEvent.scstep E (po X) (rf X) (mo X)).
  Notation events := (LastEvent.events E).
  Notation history := (Runs.history thread location value E (tid X) (lab X) thread_dec).
  Notation of := (Runs.of thread E (tid X) thread_dec).
  Notation last_write := (Runs.last_write location value E (lab X)).
  Notation sc_run := (Runs.sc_run thread location value (behaviour P threads) E (tid X) (lab X) (rf X) thread_dec).
  Notation isW := (writes X).
  Notation isR := (reads X).
  Notation loc := (place_of X).
  Notation accesses := (Runs.accesses location value E (lab X)).
  Notation value_of b := (written _ _ (lab X b)).

  (** The run, and the event that comes last. *)
  Variables (k1 k2 : list E) (w' e : E).
  Notation k := (k1 ++ w' :: k2).
  Hypothesis Run : sc_run k.
  Hypothesis Fw : forward E (scstep (events k)) k.
  Hypothesis ND : NoDup k.
  Hypothesis Last : behaviour P threads (tid X e) (history (tid X e) k ++ [lab X e]).

  Lemma history_app t a b : history t (a ++ b) = history t a ++ history t b.
  Proof. unfold Runs.history, Runs.of. now rewrite filter_app, map_app. Qed.
  Lemma history_same b : history (tid X b) [b] = [lab X b].
  Proof. unfold Runs.history, Runs.of. simpl. destruct (thread_dec (tid X b) (tid X b)); [reflexivity|congruence]. Qed.
  Lemma history_other t b : tid X b <> t -> history t [b] = [].
  Proof. unfold Runs.history, Runs.of. simpl. destruct (thread_dec (tid X b) t); [congruence|reflexivity]. Qed.

  (** What threads do over the whole run they can do. *)
  Lemma behaves l t : (forall p b q, l = p ++ b :: q -> behaviour P threads (tid X b) (history (tid X b) p ++ [lab X b])) ->
    history t l = [] \/ behaviour P threads t (history t l).
  Proof.
    induction l as [|b l IH] using rev_ind; intros H; [left; reflexivity|].
    rewrite history_app. destruct (thread_dec (tid X b) t) as [<-|D].
    - right. rewrite history_same. apply (H l b []). reflexivity.
    - rewrite history_other, app_nil_r by auto. apply IH. intros p c q ->. apply (H p c (q ++ [b])).
      now rewrite <- app_assoc.
  Qed.

  Lemma whole_behaves p b q : k ++ [e] = p ++ b :: q -> behaviour P threads (tid X b) (history (tid X b) p ++ [lab X b]).
  Proof.
    intros H. destruct q as [|c q] using rev_ind.
    - apply app_inj_tail in H. destruct H as [<- <-]. exact Last.
    - clear IHq. rewrite app_comm_cons, app_assoc in H. apply app_inj_tail in H. destruct H as [H _].
      apply (Run p b q H).
  Qed.

  Lemma threads_can n q : nth_error threads n = Some q -> can P q (history (Thread n) (k ++ [e])).
  Proof.
    intros H. destruct (behaves (k ++ [e]) (Thread n) whole_behaves) as [->|(q' & H' & C)]; [constructor|].
    congruence.
  Qed.

  (** * First writes *)

  Lemma first_shape p b q x : k ++ [e] = p ++ b :: q -> tid X b = First x ->
    exists v, In (x, v) (memory P) /\ lab X b = first_write x v /\ history (First x) p = [].
  Proof.
    intros H T. apply whole_behaves in H. rewrite T in H. destruct H as [H|(v & I & H)].
    - destruct (history (First x) p); discriminate.
    - exists v. destruct (history (First x) p) as [|a h]; simpl in H; inversion H; auto.
      destruct h; discriminate.
  Qed.

  Lemma in_history t b l : In b l -> tid X b = t -> In (lab X b) (history t l).
  Proof. intros I T. apply in_map. apply filter_In. split; auto. destruct (thread_dec (tid X b) t); congruence. Qed.

  (** Nothing accesses a location before its first write. *)
  Lemma first_is_first p b q x : k = p ++ b :: q -> tid X b = First x -> forall c, In c p -> accesses c -> loc c <> x.
  Proof.
    intros H T c Ic Ac Lc.
    destruct (first_shape p b (q ++ [e]) x) as (v & _ & Lb & _); [rewrite H, <- app_assoc; reflexivity|auto|].
    assert (Wb : isW b) by (unfold writes; rewrite Lb; exact I).
    assert (Hk : forall c, In c p -> In c k) by (intros d Id; rewrite H; apply in_or_app; auto).
    assert (Bk : In b k) by (rewrite H; apply in_or_app; simpl; auto).
    assert (Nb : ~ In b p). { intros Ib. rewrite H in ND. apply NoDup_remove_2 in ND. apply ND. apply in_or_app; auto. }
    (* a write of x in p *)
    assert (W : exists w, In w p /\ isW w /\ loc w = x).
    { destruct Ac as [Rc|Wc]; [|exists c; auto]. destruct (in_split _ _ Ic) as (p1 & p2 & Ep).
      destruct (Run p1 c (p2 ++ b :: q)) as [_ Rd]; [rewrite H, Ep, <- app_assoc; reflexivity|].
      destruct (Rd Rc) as (w & (a1 & a2 & Ea & Ww & Lw & _) & _ & _). exists w. split; [|split].
      - rewrite Ep, Ea. apply in_or_app. left. apply in_or_app. simpl. auto.
      - exact Ww.
      - transitivity (loc c); [exact Lw|exact Lc]. }
    destruct W as (w & Iw & Ww & Lw).
    destruct (mo_first X WF b w x T Ww Lw) as [->|M]; [contradiction|].
    apply (Fw p b q H w); [auto|]. split; [exact Bk|]. split; [apply Hk; auto|]. auto.
  Qed.

  (** * Steps of threads *)

  Notation reach := (reach rl P).

  (** A thread that can do an access gets there by internal moves. *)
  Lemma can_go q0 hs : can P q0 hs -> forall l h, hs = l :: h -> forall ths n m mem lev msg control,
    reach ths mem lev msg control -> nth_error ths n = Some (q0, m) ->
    exists ed ths', In ed (edges P) /\ label_of (does ed) = Some l /\ can P (target ed) h /\
      reach ths' mem lev msg control /\ nth_error ths' n = Some (source ed, m) /\
      forall i, i <> n -> nth_error ths' i = nth_error ths i.
  Proof.
    induction 1 as [|ed h Ie Le C IH|ed l h Ie Le C IH]; intros l0 h0 E0 ths n m mem lev msg control R Hn.
    - discriminate.
    - assert (De : does ed = Internal) by (destruct (does ed); simpl in Le; try discriminate; reflexivity).
      destruct (IH l0 h0 E0 (set_nth n (target ed, m) ths) n m mem lev msg control) as (ed' & ths' & A & B & D & F & G & O).
      + eapply internal_step; eauto.
      + eapply nth_set_same; eauto.
      + exists ed', ths'. repeat (split; [assumption|]). intros i Hi. rewrite O, nth_set_other; auto.
    - inversion E0. subst. exists ed, ths. repeat (split; [assumption|]). auto.
  Qed.

  (** What is left to do can be done. *)
  Definition ready (ths : list (state * mark)) (r : list E) : Prop :=
    (forall n q0, nth_error threads n = Some q0 -> exists q m, nth_error ths n = Some (q, m)) /\
    (forall n q m, nth_error ths n = Some (q, m) -> can P q (history (Thread n) r)).

  Lemma go ths b r n mem lev msg control h : ready ths (b :: r) -> tid X b = Thread n ->
    behaviour P threads (tid X b) h -> reach ths mem lev msg control ->
    exists ed ths' q m, In ed (edges P) /\ label_of (does ed) = Some (lab X b) /\
      reach ths' mem lev msg control /\ nth_error ths n = Some (q, m) /\ nth_error ths' n = Some (source ed, m) /\
      (forall i, i <> n -> nth_error ths' i = nth_error ths i) /\
      forall m', ready (set_nth n (target ed, m') ths') r.
  Proof.
    intros [Rd Rc] T B R. rewrite T in B. destruct B as (q0 & H0 & _). destruct (Rd _ _ H0) as (q & m & Hn).
    assert (C := Rc _ _ _ Hn). change (b :: r) with ([b] ++ r) in C. rewrite history_app in C.
    rewrite <- T, history_same, T in C. simpl in C.
    destruct (can_go _ _ C _ _ eq_refl _ _ _ _ _ _ _ R Hn) as (ed & ths' & A1 & A2 & A3 & A4 & A5 & A6).
    exists ed, ths', q, m. repeat (split; [assumption|]). intros m'. split.
    - intros i q1 H1. destruct (PeanoNat.Nat.eq_dec i n) as [->|D].
      + rewrite (nth_set_same _ _ _ _ A5). eauto.
      + rewrite nth_set_other, A6 by auto. eauto.
    - intros i q1 m1 H1. destruct (PeanoNat.Nat.eq_dec i n) as [->|D].
      + rewrite (nth_set_same _ _ _ _ A5) in H1. now inversion H1; subst.
      + rewrite nth_set_other, A6 in H1 by auto. assert (C1 := Rc _ _ _ H1).
        change (b :: r) with ([b] ++ r) in C1. rewrite history_app, history_other in C1; auto.
        rewrite T. intros Eq. inversion Eq. congruence.
  Qed.

  Lemma ready_other ths b r x : ready ths (b :: r) -> tid X b = First x -> ready ths r.
  Proof.
    intros [A B] T. split; auto. intros n q m H. assert (C := B _ _ _ H).
    change (b :: r) with ([b] ++ r) in C. rewrite history_app, history_other in C; auto. rewrite T. discriminate.
  Qed.

  (** * Memory *)

  Definition holds (p : list E) (mem : location -> value) : Prop :=
    (forall x w, last_write p x w -> mem x = value_of w) /\
    (forall x, (forall w, In w p -> isW w -> loc w <> x) -> mem x = first_value P x) /\
    (forall x, In x locs -> In (mem x) (values_of P x)).

  Lemma last_write_snoc p b x w : last_write (p ++ [b]) x w ->
    (isW b /\ loc b = x /\ w = b) \/ (~ (isW b /\ loc b = x) /\ last_write p x w).
  Proof.
    intros (a1 & a2 & Eq & Ww & Lw & N). destruct a2 as [|c a2] using rev_ind.
    - apply app_inj_tail in Eq. destruct Eq as [-> ->]. left. auto.
    - clear IHa2. rewrite app_comm_cons, app_assoc in Eq. apply app_inj_tail in Eq. destruct Eq as [-> ->]. right. split.
      + intros [Wc Lc]. apply (N c); auto. apply in_or_app. simpl. auto.
      + exists a1, a2. repeat split; auto. intros v Iv. apply N. apply in_or_app. auto.
  Qed.

  Lemma holds_after p b mem v : holds p mem -> (isW b -> v = value_of b) -> (~ isW b -> v = mem (loc b)) ->
    In v (values_of P (loc b)) -> holds (p ++ [b]) (upd mem (loc b) v).
  Proof.
    intros (A & B & C) Hw Hr Iv. split; [|split].
    - intros x w L. apply last_write_snoc in L. destruct L as [(Wb & <- & ->)|[N L]].
      + rewrite upd_same. auto.
      + destruct (Pos.eq_dec x (loc b)) as [->|D]; [|rewrite upd_other; auto].
        rewrite upd_same, Hr by tauto. auto.
    - intros x N. destruct (Pos.eq_dec x (loc b)) as [->|D].
      + rewrite upd_same, Hr.
        * apply B. intros w I. apply N. apply in_or_app. auto.
        * intros W. apply (N b); auto. apply in_or_app. simpl. auto.
      + rewrite upd_other by auto. apply B. intros w I. apply N. apply in_or_app. auto.
    - intros x I. destruct (Pos.eq_dec x (loc b)) as [->|D]; [now rewrite upd_same|rewrite upd_other; auto].
  Qed.

  Lemma holds_first p b q x mem : k = p ++ b :: q -> tid X b = First x -> holds p mem -> holds (p ++ [b]) mem.
  Proof.
    intros H T (A & B & C). destruct (first_shape p b (q ++ [e]) x) as (v & Iv & Lb & _); auto.
    { rewrite H, <- app_assoc. reflexivity. }
    assert (Lx : loc b = x) by (unfold place_of; rewrite Lb; reflexivity).
    split; [|split]; auto.
    - intros y w L. apply last_write_snoc in L. destruct L as [(Wb & <- & ->)|[N L]]; auto.
      rewrite B; [rewrite Lx, Lb; simpl; now apply first_value_in|].
      intros w Iw Ww. rewrite Lx. eapply first_is_first; eauto. right. exact Ww.
    - intros y N. apply B. intros w I. apply N. apply in_or_app. auto.
  Qed.

  Lemma holds_fence p b mem : holds p mem -> ~ isW b -> holds (p ++ [b]) mem.
  Proof.
    intros (A & B & C) N. split; [|split]; auto.
    - intros x w L. apply last_write_snoc in L. destruct L as [(Wb & _)|[_ L]]; [contradiction|auto].
    - intros x Nw. apply B. intros w I. apply Nw. apply in_or_app. auto.
  Qed.

  (** A label is that of a fence or that of an access. *)
  Lemma fence_or_access ed b : In ed (edges P) -> label_of (does ed) = Some (lab X b) ->
    (exists a r, does ed = Fence a r /\ ~ accesses b /\ (a = true -> acquires _ _ (lab X b)) /\
       (r = true -> releases _ _ (lab X b))) \/
    (accesses b /\ In (loc b) locs).
  Proof.
    intros Ie Le. pose proof (proj2 (check_program_sound P checked) ed (loc b) Ie) as Known.
    unfold Runs.accesses, Runs.isR, Runs.isW, place_of in *.
    destruct (does ed) as [|x u a|x u a|x u u' a a'|a r]; simpl in Le; inversion Le as [L]; rewrite <- L in *; simpl in *;
      try (right; split; [tauto|now apply Known]).
    left. exists a, r. tauto.
  Qed.

  (** What an edge does with memory, in the label's terms. *)
  Lemma label_performs ed l v : In ed (edges P) -> label_of (does ed) = Some l -> In (at_loc _ _ l) locs ->
    is_read _ _ l \/ is_write _ _ l -> In v (values_of P (at_loc _ _ l)) ->
    (is_read _ _ l -> v = read_val _ _ l) ->
    exists r w ac re v', performs P (does ed) r w ac re (at_loc _ _ l) v v' /\ In (at_loc _ _ l) locs /\
      (r = true <-> is_read _ _ l) /\ (w = true <-> is_write _ _ l) /\
      (ac = true <-> acquires _ _ l) /\ (ac = true -> r = true) /\ (re = true <-> releases _ _ l) /\
      (is_write _ _ l -> v' = written _ _ l) /\ (~ is_write _ _ l -> v' = v) /\ In v' (values_of P (at_loc _ _ l)).
  Proof.
    intros Ie Le Il Al Iv Rv.
    assert (Wr : forall x u, In (x, u) (writes_value ed) -> In u (values_of P x)).
    { intros x u Iu. apply values_of_has. eauto. }
    unfold writes_value in Wr. destruct (does ed) as [|x u a|x u a|x u u' a a'|a a'] eqn:D; simpl in Le; inversion Le; subst; clear Le; simpl in *.
    - rewrite (Rv I). exists true, false, a, false, u. repeat split; auto; try discriminate; try tauto; [constructor|].
      now rewrite <- (Rv I).
    - exists false, true, false, a, u. repeat split; auto; try discriminate; try tauto. now constructor.
    - rewrite (Rv I). exists true, true, a, a', u'. repeat split; auto; try discriminate; try tauto. constructor.
    - tauto.
  Qed.

  (** * Before [w'] *)

  Lemma before p : forall r, k1 = p ++ r ->
    exists ths mem lev msg, reach ths mem lev msg [Before] /\ ready ths (r ++ w' :: k2 ++ [e]) /\ holds p mem /\
      (forall n q m, nth_error ths n = Some (q, m) -> m = Apart) /\
      (forall x, lev x = Untouched) /\ (forall x, msg x = Silent).
  Proof.
    induction p as [|b p IH] using rev_ind; intros r Ek.
    - exists (map (fun q => (q, Apart)) threads), (first_value P), (fun _ => Untouched), (fun _ => Silent).
      split; [now apply start_reach|]. split; [|split; [|split; [|auto]]].
      + split.
        * intros n q0 H. exists q0, Apart. now rewrite nth_error_map, H.
        * intros n q m H. rewrite nth_error_map in H. destruct (nth_error threads n) eqn:T; inversion H; subst q m.
          replace (r ++ w' :: k2 ++ [e]) with (k ++ [e]); [now apply threads_can|].
          simpl in Ek. rewrite Ek, <- app_assoc. reflexivity.
      + split; [|split; auto].
        * intros x w (a1 & a2 & Eq & _). destruct a1; discriminate.
        * intros x I. apply in_map_iff in I. destruct I as ([y v] & <- & I). simpl. apply values_of_has. left.
          now rewrite (first_value_in P y v).
      + intros n q m H. rewrite nth_error_map in H. destruct (nth_error threads n); now inversion H.
    - rewrite <- app_assoc in Ek. simpl in Ek.
      destruct (IH (b :: r) Ek) as (ths & mem & lev & msg & R & Rd & Hm & Ap & Lv & Ms). simpl in Rd.
      assert (Kp : k = p ++ b :: r ++ w' :: k2) by (rewrite Ek, <- app_assoc; reflexivity).
      destruct (Run p b _ Kp) as [Hb Rb].
      destruct (tid X b) as [x|n] eqn:T.
      + exists ths, mem, lev, msg. split; [auto|]. split; [eapply ready_other; eauto|].
        split; [eapply holds_first; eauto|]. auto.
      + rewrite <- T in Hb. destruct (go _ _ _ _ _ _ _ _ _ Rd T Hb R) as (ed & ths' & q & m & Ie & Le & R' & Hn & Hn' & Ot & Rd').
        assert (m = Apart) by eauto. subst m.
        destruct (fence_or_access ed b Ie Le) as [(fa & fr & De & Nb & _)|[Ab Kn]].
        { exists (set_nth n (target ed, Apart) ths'), mem, lev, msg.
          split; [generalize (fence_step rl P ths' mem lev msg [Before] n (source ed) Apart ed fa fr); rewrite fence_apart; eauto|]. split; [apply Rd'|].
          split; [apply holds_fence; auto; intros W; apply Nb; right; exact W|]. split; [|auto].
          intros i q1 m1 H1. destruct (PeanoNat.Nat.eq_dec i n) as [->|D].
          - rewrite (nth_set_same _ _ _ _ Hn') in H1. now inversion H1.
          - rewrite nth_set_other, Ot in H1 by auto. eauto. }
        destruct (label_performs ed (lab X b) (mem (loc b)) Ie Le Kn Ab) as (rd & wr & ac & re & v' & Pf & Ix & Er & Ew & Ea & Ear & Ere & Vw & Vr & Iv').
        { apply Hm, Kn. }
        { intros Rdb. destruct (Rb Rdb) as (w & Lw & _ & ->). now apply Hm. }
        exists (set_nth n (target ed, Apart) ths'), (upd mem (loc b) v'), (upd lev (loc b) (lev (loc b))), (upd msg (loc b) (msg (loc b))).
        split; [eapply before_step; eauto|]. split; [apply Rd'|]. split; [|split; [|split]].
        * apply holds_after; auto.
        * intros i q1 m1 H1. destruct (PeanoNat.Nat.eq_dec i n) as [->|D].
          -- rewrite (nth_set_same _ _ _ _ Hn') in H1. now inversion H1.
          -- rewrite nth_set_other, Ot in H1 by auto. eauto.
        * intros x. unfold upd. destruct (Pos.eqb x (loc b)); auto.
        * intros x. unfold upd. destruct (Pos.eqb x (loc b)); auto.
  Qed.

  (** * After [w'] *)

  Notation x0 := (loc w').
  Notation dep := (Runs.dep thread location value E (tid X) (lab X)).

  Hypothesis Ww' : isW w'.
  Hypothesis Joins : forall p b q, k2 = p ++ b :: q -> exists c, In c (w' :: p) /\ dep c b.
  Hypothesis Over : Runs.overlooked E (rf X) (mo X) e w'.
  Hypothesis Same : loc e = x0.

  (** What marks and messages mean after the steps [p] behind [w'], and that the rules keep it. *)
  Variable sees : list E -> thread -> mark -> Prop.
  Variable tells : list E -> location -> message -> Prop.
  Record sound_rules : Prop := {
    r_apart : forall t, t <> tid X w' -> sees [] t Apart;
    r_guess : forall u, (u = true <-> isR w') -> sees [] (tid X w') (guess_mark rl u) /\ guess_mark rl u <> Apart;
    r_silent : forall x, tells [] x (if Pos.eqb x x0 then Overlooked else Silent);
    r_told : forall p x s, tells p x s -> In s (told rl);
    r_overlooked : forall p s, tells p x0 s -> s = Overlooked;
    r_fence : forall p b q fa fr m, k2 = p ++ b :: q -> ~ accesses b ->
      (fa = true -> acquires _ _ (lab X b)) -> (fr = true -> releases _ _ (lab X b)) -> m <> Apart -> sees p (tid X b) m ->
      sees (p ++ [b]) (tid X b) (fence_mark rl fa fr m) /\ fence_mark rl fa fr m <> Apart;
    r_access : forall p b q rd wr ac re m s, k2 = p ++ b :: q -> accesses b -> (rd = true <-> isR b) -> (wr = true <-> isW b) ->
      (ac = true -> acquires _ _ (lab X b)) -> (re = true -> releases _ _ (lab X b)) -> sees p (tid X b) m -> tells p (loc b) s ->
      let m' := access_mark rl rd wr ac m s in
      sees (p ++ [b]) (tid X b) m' /\ m' <> Apart /\ tells (p ++ [b]) (loc b) (passing rl rd wr re m m' s);
    r_others : forall p b q t m, k2 = p ++ b :: q -> t <> tid X b -> sees p t m -> sees (p ++ [b]) t m;
    r_elsewhere : forall p b q x s, k2 = p ++ b :: q -> x <> loc b \/ ~ accesses b -> tells p x s -> tells (p ++ [b]) x s;
    r_last : forall m wr, (wr = true -> isW e) -> m <> Apart -> sees k2 (tid X e) m -> In m (last_marks rl wr) }.
  Hypothesis Rules : sound_rules.

  (** What is noted after these steps. *)
  Record noted (p : list E) (ths : list (state * mark)) lev msg : Prop := {
    joined : forall n q m c, nth_error ths n = Some (q, m) -> In c (w' :: p) -> tid X c = Thread n -> m <> Apart;
    seen : forall n q m, nth_error ths n = Some (q, m) -> sees p (Thread n) m;
    touched : forall c, In c (w' :: p) -> accesses c -> lev (loc c) <> Untouched /\ (isW c -> lev (loc c) = WasWritten);
    says : forall x, tells p x (msg x) }.

  Lemma not_first : forall x, tid X w' <> First x.
  Proof.
    intros x T. destruct (first_shape k1 w' (k2 ++ [e]) x) as (v & _ & Lb & _); auto.
    { now rewrite <- app_assoc. }
    assert (Lx : x0 = x) by (unfold place_of; rewrite Lb; reflexivity).
    destruct Over as [M|(w & R & M)].
    - destruct (mo_write X WF _ _ M) as [We _]. destruct (mo_first X WF w' e x T We) as [<-|M']; [congruence| |].
      + exact (mo_irr X WF _ M).
      + exact (mo_irr X WF _ (mo_trans X WF _ _ _ M M')).
    - destruct (mo_write X WF _ _ M) as [Ww _]. destruct (mo_first X WF w' w x T Ww) as [<-|M'].
      + rewrite (mo_loc X WF _ _ M). exact Lx.
      + exact (mo_irr X WF _ M).
      + exact (mo_irr X WF _ (mo_trans X WF _ _ _ M M')).
  Qed.

  (** First writes do not come behind [w']. *)
  Lemma first_before p b q x : k2 = p ++ b :: q -> tid X b <> First x.
  Proof.
    intros Ek T. destruct (Joins p b q Ek) as (c & Ic & D).
    assert (Kp : k = (k1 ++ w' :: p) ++ b :: q) by (rewrite Ek, <- app_assoc; reflexivity).
    destruct (first_shape (k1 ++ w' :: p) b (q ++ [e]) x) as (v & _ & Lb & Hn); auto.
    { rewrite Kp, <- app_assoc. reflexivity. }
    assert (Lx : loc b = x) by (unfold place_of; rewrite Lb; reflexivity).
    destruct D as [D|[D [Ac _]]].
    - assert (I := in_history (First x) c (k1 ++ w' :: p)). rewrite Hn in I. apply I; [|congruence].
      apply in_or_app. auto.
    - apply (first_is_first (k1 ++ w' :: p) b q x Kp T c); [apply in_or_app; auto|exact Ac|]. transitivity (loc b); [exact D|exact Lx].
  Qed.

  Lemma after p : forall r, k2 = p ++ r ->
    exists ths mem lev msg v u, reach ths mem lev msg [Behind v u] /\ ready ths (r ++ [e]) /\ holds (k1 ++ w' :: p) mem /\
      noted p ths lev msg /\ (u = true -> isR w') /\ In v (values_of P x0) /\
      (forall w, last_write k1 x0 w -> v = value_of w).
  Proof.
    induction p as [|b p IH] using rev_ind; intros r Ek.
    - simpl in Ek. destruct (before k1 [] ltac:(now rewrite app_nil_r)) as (ths & mem & lev & msg & R & Rd & Hm & Ap & Lv & Ms).
      simpl in Rd. destruct (Run k1 w' k2 eq_refl) as [Hb Rb].
      destruct (tid X w') as [x|n] eqn:T; [destruct (not_first x T)|].
      rewrite <- T in Hb. destruct (go _ _ _ _ _ _ _ _ _ Rd T Hb R) as (ed & ths' & q & m & Ie & Le & R' & Hn & Hn' & Ot & Rd').
      assert (m = Apart) by eauto. subst m.
      destruct (fence_or_access ed w' Ie Le) as [(fa & fr & _ & Nb & _)|[Ab Kn]]; [destruct Nb; right; exact Ww'|].
      destruct (label_performs ed (lab X w') (mem x0) Ie Le Kn Ab) as (rd & wr & ac & re & v' & Pf & Ix & Er & Ew & Ea & Ear & Ere & Vw & Vr & Iv').
      { apply Hm, Kn. }
      { intros Rdb. destruct (Rb Rdb) as (w & Lw & _ & ->). now apply Hm. }
      assert (wr = true) by (apply Ew; exact Ww'). subst wr.
      destruct (r_guess Rules rd Er) as [Gs Ga].
      exists (set_nth n (target ed, guess_mark rl rd) ths'), (upd mem x0 v'), (upd lev x0 WasWritten), (upd msg x0 Overlooked), (mem x0), rd.
      split; [eapply guess_step; eauto|]. split; [rewrite <- Ek; apply Rd'|]. split; [apply holds_after; auto|].
      split; [|split; [|split]].
      + split.
        * intros i q1 m1 c H1 [<-|[]] Tc. assert (i = n) by congruence. subst i.
          rewrite (nth_set_same _ _ _ _ Hn') in H1. now inversion H1.
        * intros i q1 m1 H1. destruct (PeanoNat.Nat.eq_dec i n) as [->|D].
          -- rewrite (nth_set_same _ _ _ _ Hn') in H1. inversion H1. subst m1. rewrite <- T. exact Gs.
          -- rewrite nth_set_other, Ot in H1 by auto. rewrite (Ap _ _ _ H1). apply (r_apart Rules). congruence.
        * intros c [<-|[]] _. rewrite upd_same. split; [discriminate|auto].
        * intros x. assert (S := r_silent Rules x). unfold upd. destruct (Pos.eqb x x0); auto. now rewrite Ms.
      + intros ->. now apply Er.
      + apply Hm, Kn.
      + intros w Lw. now apply Hm.
    - rewrite <- app_assoc in Ek. simpl in Ek.
      destruct (IH (b :: r) Ek) as (ths & mem & lev & msg & v & u & R & Rd & Hm & No & Hu & Iv & Hv). simpl in Rd.
      assert (Kp : k = (k1 ++ w' :: p) ++ b :: r) by (rewrite Ek, <- app_assoc; reflexivity).
      destruct (Run _ b _ Kp) as [Hb Rb].
      destruct (tid X b) as [x|n] eqn:T; [destruct (first_before p b r x Ek T)|].
      rewrite <- T in Hb. destruct (go _ _ _ _ _ _ _ _ _ Rd T Hb R) as (ed & ths' & q & m & Ie & Le & R' & Hn & Hn' & Ot & Rd').
      destruct No as [Nj Nk Nt Np].
      assert (Others : forall m' i q1 m1, nth_error (set_nth n (target ed, m') ths') i = Some (q1, m1) ->
        (i = n /\ m1 = m') \/ (i <> n /\ nth_error ths i = Some (q1, m1))).
      { intros m' i q1 m1 H1. destruct (PeanoNat.Nat.eq_dec i n) as [->|D].
        - rewrite (nth_set_same _ _ _ _ Hn') in H1. inversion H1. auto.
        - rewrite nth_set_other, Ot in H1 by auto. auto. }
      assert (Joined' : forall m' i q1 m1 c, m' <> Apart -> nth_error (set_nth n (target ed, m') ths') i = Some (q1, m1) ->
        In c (w' :: p ++ [b]) -> tid X c = Thread i -> m1 <> Apart).
      { intros m' i q1 m1 c Nm H1 Ic Tc. destruct (Others _ _ _ _ H1) as [[-> ->]|[D H2]]; auto.
        rewrite app_comm_cons in Ic. apply in_app_or in Ic. destruct Ic as [Ic|[<-|[]]]; [eapply Nj; eauto|congruence]. }
      destruct (fence_or_access ed b Ie Le) as [(fa & fr & De & Nb & Aq & Rl)|[Ab Kn]].
      { (* a fence: its thread has joined *)
        assert (Nm : m <> Apart).
        { destruct (Joins p b r Ek) as (c & Ic & [D|(_ & _ & D & _)]); [|contradiction]. apply (Nj n q m c); auto. congruence. }
        destruct (r_fence Rules p b r fa fr m Ek Nb Aq Rl Nm) as [Sf Nm']; [rewrite T; eauto|].
        exists (set_nth n (target ed, fence_mark rl fa fr m) ths'), mem, lev, msg, v, u.
        split; [eapply fence_step; eauto|]. split; [apply Rd'|].
        split; [rewrite app_comm_cons, app_assoc; apply holds_fence; auto; intros W; apply Nb; right; exact W|].
        split; [|auto]. split; auto.
        - intros i q1 m1 c H1 Ic Tc. eapply Joined'; eauto.
        - intros i q1 m1 H1. destruct (Others _ _ _ _ H1) as [[-> ->]|[D H2]]; [rewrite <- T; exact Sf|].
          eapply (r_others Rules); eauto. rewrite T. intros Q. inversion Q. contradiction.
        - intros c Ic Ac. rewrite app_comm_cons in Ic. apply in_app_or in Ic. destruct Ic as [Ic|[<-|[]]]; [auto|contradiction].
        - intros x. eapply (r_elsewhere Rules); eauto. }
      destruct (label_performs ed (lab X b) (mem (loc b)) Ie Le Kn Ab) as (rd & wr & ac & re & v' & Pf & Ix & Er & Ew & Ea & Ear & Ere & Vw & Vr & Iv').
      { apply Hm, Kn. }
      { intros Rdb. destruct (Rb Rdb) as (w & Lw & _ & ->). now apply Hm. }
      assert (J : joins wr m (lev (loc b)) = true).
      { destruct (Joins p b r Ek) as (c & Ic & [D|(D & Ac & _ & W)]).
        - assert (m <> Apart) by (apply (Nj n q m c); auto; congruence). destruct m, (lev (loc b)); auto; congruence.
        - change (loc c = loc b) in D. destruct (Nt c Ic Ac) as [T1 T2]. rewrite D in T1, T2. destruct W as [W|W].
          + rewrite T2 by exact W. destruct m; reflexivity.
          + assert (wr = true) by (apply Ew; exact W). subst wr. destruct m, (lev (loc b)); auto; congruence. }
      destruct (r_access Rules p b r rd wr ac re m (msg (loc b)) Ek Ab Er Ew (proj1 Ea) (proj1 Ere)) as (Sa & Nap & Ta); [rewrite T; eauto|auto|].
      set (m' := access_mark rl rd wr ac m (msg (loc b))) in *.
      exists (set_nth n (target ed, m') ths'), (upd mem (loc b) v'), (upd lev (loc b) (touch wr (lev (loc b)))),
        (upd msg (loc b) (passing rl rd wr re m m' (msg (loc b)))), v, u.
      split; [eapply after_step; eauto; eapply (r_told Rules); eauto|]. split; [apply Rd'|].
      split; [rewrite app_comm_cons, app_assoc; apply holds_after; auto|].
      split; [|auto]. split.
      + intros i q1 m1 c H1 Ic Tc. eapply Joined'; eauto.
      + intros i q1 m1 H1. destruct (Others _ _ _ _ H1) as [[-> ->]|[D H2]]; [rewrite <- T; exact Sa|].
        eapply (r_others Rules); eauto. rewrite T. intros Q. inversion Q. contradiction.
      + intros c Ic Ac. rewrite app_comm_cons in Ic. apply in_app_or in Ic.
        assert (Nw : wr = false -> ~ isW b) by (intros -> W; apply Ew in W; discriminate).
        destruct Ic as [Ic|[<-|[]]].
        * destruct (Nt c Ic Ac) as [A B]. unfold upd. destruct (Pos.eqb_spec (loc c) (loc b)) as [Eq|D]; auto.
          rewrite <- Eq. unfold touch. destruct wr; [split; [discriminate|auto]|].
          destruct (lev (loc c)); split; auto; try discriminate; intros W; specialize (B W); discriminate.
        * rewrite upd_same. unfold touch. destruct wr; [split; [discriminate|auto]|].
          split; [destruct (lev (loc b)); discriminate|]. intros W. destruct (Nw eq_refl W).
      + intros x. unfold upd. destruct (Pos.eqb_spec x (loc b)) as [->|D]; [exact Ta|]. eapply (r_elsewhere Rules); eauto.
  Qed.

  (** * The last event *)

  Hypothesis Joined_e : exists f, In f (w' :: k2) /\ tid X f = tid X e.
  Hypothesis Stale : isR e -> exists w, last_write k1 (loc e) w /\ read_val _ _ (lab X e) = value_of w.
  Hypothesis No_update : isW e -> ~ isR w'.
  Hypothesis Accesses_e : accesses e.

  Theorem follows : coverable (net_of rl P).
  Proof.
    destruct (after k2 [] ltac:(now rewrite app_nil_r)) as (ths & mem & lev & msg & v & u & R & Rd & _ & No & Hu & Iv & Hv).
    simpl in Rd. destruct Joined_e as (f & If & Tf).
    assert (Kinds : (exists x, tid X e = First x) \/ exists n, tid X e = Thread n) by (destruct (tid X e); eauto).
    destruct Kinds as [(x & T)|(n & T)].
    - (* a first write is alone in its thread *)
      exfalso. destruct (first_shape k e [] x) as (_ & _ & _ & Hn); auto.
      assert (I := in_history (First x) f k). rewrite Hn in I. apply I; [apply in_or_app; auto|congruence].
    - destruct (go _ _ _ _ _ _ _ _ _ Rd T Last R) as (ed & ths' & q & m & Ie & Le & R' & Hn & Hn' & _ & _).
      assert (Nm : m <> Apart) by (apply (joined _ _ _ _ No n q m f); auto; congruence).
      assert (La : forall wr, (wr = true -> isW e) -> In m (last_marks rl wr)).
      { intros wr Hw. apply (r_last Rules); auto. rewrite T. eapply seen; eauto. }
      destruct (fence_or_access ed e Ie Le) as [(fa & fr & _ & Nb & _)|[_ Kn]]; [contradiction|].
      assert (Vr : isR e -> read_val _ _ (lab X e) = v).
      { intros Re. destruct (Stale Re) as (w & Lw & ->). symmetry. apply Hv. now rewrite <- Same. }
      assert (Uw : isW e -> u = false).
      { intros We. destruct u; auto. destruct (No_update We). auto. }
      assert (Ov : msg (loc e) = Overlooked) by (rewrite Same; eapply (r_overlooked Rules), says; eauto).
      assert (Go : forall wr, (wr = true -> isW e) -> (forall t, In t (last_moves rl wr (source ed) (loc e) v u) ->
        In t (edge_moves rl (known_values P) ed)) -> coverable (net_of rl P)).
      { intros wr Hw Ed. eapply (last_step rl P distinct wr) with (x := loc e) (u := u) (v := v) (lev := lev) (mem := mem); eauto.
        intros t It. apply edge_in with ed; auto. }
      unfold edge_moves in Go. unfold reads, writes, place_of in *.
      destruct (does ed) as [|y c a|y c a|y c c' a a'|a a'] eqn:De; simpl in Le; inversion Le as [Lx]; rewrite <- Lx in Vr, Uw, Go;
        cbn [at_loc read_val is_read is_write] in *.
      + apply (Go false); [discriminate|]. intros t It. rewrite Vr by exact I. apply in_or_app. right. apply in_or_app. destruct u; auto.
      + apply (Go true); [auto|]. intros t It. rewrite Uw in It by exact I. apply in_flat_map. exists v.
        split; [rewrite <- Same in Iv; rewrite <- Lx in Iv; exact Iv|]. apply in_or_app. auto.
      + apply (Go true); [auto|]. intros t It. rewrite Vr by exact I. rewrite Uw in It by exact I. apply in_or_app. auto.
      + destruct Accesses_e as [A|A]; unfold Runs.isR, Runs.isW in A; rewrite <- Lx in A; destruct A.
  Qed.
End Following.
