(** Runs: the effect of repeated steps is computed, not replayed. *)
From Coq Require Import List NArith ZArith Lia Bool FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps.
Local Open Scope Z_scope.

(** Transitions are numbered from 1 in the order of the net. *)
Inductive run := Stop | Fire (i : positive) | Then (a b : run) | Repeat (k : positive) (a : run).

Lemma reachable_ext pb m m' : reachable pb m -> (forall p, m p = m' p) -> reachable pb m'.
Proof.
  intros R E. destruct R as [m Hm|m t m1 R Ht Hf].
  - apply reach_init. intros p. specialize (Hm p). rewrite <- E. auto.
  - eapply reach_fire; eauto. intros p. rewrite <- E. apply Hf.
Qed.

(** * Effects: for each place what is needed and the change *)

Definition eff := M.t (Z * Z).
Definition eval (o : option (Z * Z)) : Z * Z := match o with Some x => x | None => (0, 0) end.
Definition need (e : eff) p := fst (eval (M.find p e)).
Definition change (e : eff) p := snd (eval (M.find p e)).

Definition after (e : eff) (m : marking) : marking := fun p => Z.to_N (Z.of_N (m p) + change e p).
Definition can (e : eff) (m : marking) : Prop := forall p, need e p <= Z.of_N (m p).

Record good (pb : problem) (e : eff) : Prop := {
  good_need : forall p, 0 <= need e p;
  good_change : forall p, 0 <= need e p + change e p;
  good_reach : forall m, reachable pb m -> can e m -> reachable pb (after e m) }.

Definition both (f : Z * Z -> Z * Z -> Z * Z) (o o' : option (Z * Z)) : option (Z * Z) :=
  match o, o' with None, None => None | _, _ => Some (f (eval o) (eval o')) end.

Definition seq (a b : eff) : eff :=
  M._map2 (both (fun '(n, c) '(n', c') => (Z.max n (n' - c), c + c'))) a b.

Lemma seq_need a b p : need (seq a b) p = Z.max (need a p) (need b p - change a p) \/
   (need (seq a b) p = 0 /\ need a p = 0 /\ need b p = 0 /\ change a p = 0).
Proof.
  unfold seq, need, change. rewrite M.gmap2 by reflexivity.
  destruct (M.find p a) as [[? ?]|], (M.find p b) as [[? ?]|]; simpl; auto.
Qed.
Lemma seq_change a b p : change (seq a b) p = change a p + change b p.
Proof.
  unfold seq, change. rewrite M.gmap2 by reflexivity.
  destruct (M.find p a) as [[? ?]|], (M.find p b) as [[? ?]|]; simpl; auto.
Qed.

Lemma seq_good pb a b : good pb a -> good pb b -> good pb (seq a b).
Proof.
  intros [Na Ca Ra] [Nb Cb Rb]. split.
  - intros p. specialize (Na p). destruct (seq_need a b p); lia.
  - intros p. rewrite seq_change. specialize (Na p); specialize (Ca p); specialize (Nb p); specialize (Cb p).
    destruct (seq_need a b p); lia.
  - intros m R H. apply reachable_ext with (after b (after a m)).
    + apply Rb; [apply Ra; auto|]; intros p; specialize (H p); specialize (Na p); specialize (Ca p);
        destruct (seq_need a b p); unfold after; lia.
    + intros p. specialize (H p); specialize (Na p); specialize (Ca p).
      unfold after. rewrite seq_change. destruct (seq_need a b p); lia.
Qed.

Definition times (k : positive) (a : eff) : eff :=
  M.map (fun '(n, c) => (Z.max n (n - (Zpos k - 1) * c), Zpos k * c)) a.

Lemma times_need k a p : need (times k a) p = Z.max (need a p) (need a p - (Zpos k - 1) * change a p).
Proof.
  unfold times, need, change, M.map. rewrite M.gmapi. destruct (M.find p a) as [[n c]|]; simpl; lia.
Qed.
Lemma times_change k a p : change (times k a) p = Zpos k * change a p.
Proof.
  unfold times, change, M.map. rewrite M.gmapi. destruct (M.find p a) as [[n c]|]; simpl; lia.
Qed.

Lemma between n c m k j : 0 <= j <= k - 1 -> Z.max n (n - (k - 1) * c) <= m -> n <= m + j * c.
Proof. intros. destruct (Z.le_gt_cases 0 c); nia. Qed.

Lemma times_good pb k a : good pb a -> good pb (times k a).
Proof.
  intros [Na Ca Ra]. split.
  - intros p. rewrite times_need. specialize (Na p). lia.
  - intros p. rewrite times_need, times_change. specialize (Na p); specialize (Ca p). destruct (Z.le_gt_cases 0 (change a p)); nia.
  - intros m R H.
    assert (G : forall j : nat, Z.of_nat j <= Zpos k ->
      reachable pb (fun p => Z.to_N (Z.of_N (m p) + Z.of_nat j * change a p))).
    { induction j as [|j IH]; intros Hj.
      - apply reachable_ext with m; auto. intros p. lia.
      - specialize (IH ltac:(lia)). eapply reachable_ext; [apply (Ra _ IH)|].
        + intros p. specialize (H p). rewrite times_need in H. specialize (Na p).
          assert (need a p <= Z.of_N (m p) + Z.of_nat j * change a p) by (eapply between; [|exact H]; lia). lia.
        + intros p. unfold after. specialize (H p). rewrite times_need in H. specialize (Na p).
          assert (need a p <= Z.of_N (m p) + Z.of_nat j * change a p) by (eapply between; [|exact H]; lia).
          rewrite Z2N.id by lia. f_equal. lia. }
    eapply reachable_ext; [apply (G (Pos.to_nat k)); lia|]. intros p. unfold after. rewrite times_change.
    f_equal. f_equal. f_equal. lia.
Qed.

(** A transition. *)
Definition entry (e : eff) (p : place) : Z * Z := eval (M.find p e).
Fixpoint taking (v : vec) (e : eff) : eff :=
  match v with
  | [] => e
  | (p, n) :: v' => let (x, c) := entry e p in taking v' (M.add p (x + Z.of_N n, c - Z.of_N n) e)
  end.
Fixpoint putting (v : vec) (e : eff) : eff :=
  match v with
  | [] => e
  | (p, n) :: v' => let (x, c) := entry e p in putting v' (M.add p (x, c + Z.of_N n) e)
  end.

Lemma entry_add e p x q : entry (M.add p x e) q = if Pos.eqb q p then x else entry e q.
Proof.
  unfold entry. destruct (Pos.eqb_spec q p); [subst; now rewrite M.gss | now rewrite M.gso].
Qed.

Lemma taking_spec v : forall e p,
  entry (taking v e) p = (fst (entry e p) + Z.of_N (get v p), snd (entry e p) - Z.of_N (get v p)).
Proof.
  induction v as [|[q n] v IH]; intros e p; simpl.
  - destruct (entry e p); simpl; f_equal; lia.
  - destruct (entry e q) as [x c] eqn:E. rewrite IH, entry_add.
    destruct (Pos.eqb_spec p q); [subst; rewrite E|]; simpl; f_equal; lia.
Qed.
Lemma putting_spec v : forall e p,
  entry (putting v e) p = (fst (entry e p), snd (entry e p) + Z.of_N (get v p)).
Proof.
  induction v as [|[q n] v IH]; intros e p; simpl.
  - destruct (entry e p); simpl; f_equal; lia.
  - destruct (entry e q) as [x c] eqn:E. rewrite IH, entry_add.
    destruct (Pos.eqb_spec p q); [subst; rewrite E|]; simpl; f_equal; lia.
Qed.

Definition effect_of (t : transition) : eff := putting (post t) (taking (pre t) (M.empty _)).

Lemma effect_of_entry t p :
  entry (effect_of t) p = (Z.of_N (get (pre t) p), Z.of_N (get (post t) p) - Z.of_N (get (pre t) p)).
Proof.
  unfold effect_of. rewrite putting_spec, taking_spec. unfold entry. rewrite M.gempty. simpl. f_equal; lia.
Qed.

Lemma effect_of_good pb t : In t (transitions pb) -> good pb (effect_of t).
Proof.
  intros Hi.
  assert (N : forall p, need (effect_of t) p = Z.of_N (get (pre t) p))
    by (intros p; unfold need; fold (entry (effect_of t) p); now rewrite effect_of_entry).
  assert (C : forall p, change (effect_of t) p = Z.of_N (get (post t) p) - Z.of_N (get (pre t) p))
    by (intros p; unfold change; fold (entry (effect_of t) p); now rewrite effect_of_entry).
  split.
  - intros p. rewrite N. lia.
  - intros p. rewrite N, C. lia.
  - intros m R H. eapply reach_fire; eauto. intros p. specialize (H p). rewrite N in H.
    unfold after. rewrite C. lia.
Qed.

Lemma empty_good pb : good pb (M.empty _).
Proof.
  assert (forall p, need (M.empty _) p = 0) by (intros p; unfold need; now rewrite M.gempty).
  assert (forall p, change (M.empty _) p = 0) by (intros p; unfold change; now rewrite M.gempty).
  split; intros; rewrite ?H, ?H0; try lia.
  apply reachable_ext with m; auto. intros p. unfold after. rewrite H0. lia.
Qed.

Section Runs.
  Variable pb : problem.
  Variable numbered : M.t transition.
  Hypothesis numbered_in : forall i t, M.find i numbered = Some t -> In t (transitions pb).

  Fixpoint effect (r : run) : option eff :=
    match r with
    | Stop => Some (M.empty _)
    | Fire i => match M.find i numbered with Some t => Some (effect_of t) | None => None end
    | Then a b => match effect a, effect b with Some x, Some y => Some (seq x y) | _, _ => None end
    | Repeat k a => match effect a with Some x => Some (times k x) | None => None end
    end.

  Lemma effect_good r : forall e, effect r = Some e -> good pb e.
  Proof.
    induction r as [|i|a IHa b IHb|k a IHa]; simpl; intros e E.
    - inversion E. apply empty_good.
    - destruct (M.find i numbered) eqn:F; inversion E; subst. eauto using effect_of_good.
    - destruct (effect a), (effect b); inversion E; subst. apply seq_good; auto.
    - destruct (effect a); inversion E; subst. apply times_good; auto.
  Qed.

  (** * Executing a run on a marking *)

  Definition apply (e : eff) (m : M.t N) : option (M.t N) :=
    if entries (fun p '(n, _) => n <=? Z.of_N (den m p)) e then
      Some (M.fold (fun p x m' => M.add p (Z.to_N (Z.of_N (den m p) + snd x)) m') e m)
    else None.

  Lemma fold_apply (m : M.t N) (l : list (place * (Z * Z))) : forall m' p,
    let r := den (fold_left (fun m' e =>
                    M.add (fst e) (Z.to_N (Z.of_N (den m (fst e)) + snd (snd e))) m') l m') p in
    (exists n c, In (p, (n, c)) l /\ r = Z.to_N (Z.of_N (den m p) + c)) \/ ((forall x, ~ In (p, x) l) /\ r = den m' p).
  Proof.
    induction l as [|[q [n c]] l IH]; intros m' p; simpl.
    - right. auto.
    - specialize (IH (M.add q (Z.to_N (Z.of_N (den m q) + c)) m') p). simpl in IH.
      destruct IH as [(n1 & c1 & I & ->)|[I ->]]; [left; eauto 6|].
      rewrite den_add. destruct (Pos.eqb_spec p q) as [->|D]; [left; eauto 6|].
      right. split; auto. intros x [E|H]; [inversion E; congruence | eapply I; eauto].
  Qed.

  Lemma apply_sound e m m' :
    good pb e -> reachable pb (den m) -> apply e m = Some m' -> reachable pb (den m').
  Proof.
    intros [Ne Ce Re] R. unfold apply. destruct (entries _ _) eqn:F; [|easy]. intros E.
    rewrite M.fold_1 in E. inversion E as [E']; clear E.
    apply reachable_ext with (after e (den m)).
    - apply Re; auto. intros p. specialize (Ne p). unfold need in *. destruct (M.find p e) as [[n c]|] eqn:G; simpl in *; [|lia].
      apply (entries_sound _ _ F) in G. simpl in G. lia.
    - intros p. destruct (fold_apply m (M.elements e) m p) as [(n & c & I & H)|[I H]]; change place with M.key in *; rewrite H;
        unfold after, change.
      + apply M.elements_complete in I. rewrite I. reflexivity.
      + destruct (M.find p e) as [[n c]|] eqn:G; simpl; [|lia].
        apply M.elements_correct in G. destruct (I _ G).
  Qed.

  Fixpoint exec (r : run) (m : M.t N) : option (M.t N) :=
    match r with
    | Stop => Some m
    | Then a b => match exec a m with Some m' => exec b m' | None => None end
    | _ => match effect r with Some e => apply e m | None => None end
    end.

  Lemma exec_sound r : forall m m', reachable pb (den m) -> exec r m = Some m' -> reachable pb (den m').
  Proof.
    induction r as [|i|a IHa b IHb|k a IHa]; intros m m' R E.
    - inversion E; subst; auto.
    - cbn [exec] in E. destruct (effect (Fire i)) eqn:F; [|easy]. eauto using apply_sound, effect_good.
    - simpl in E. destruct (exec a m) as [m1|] eqn:Ea; [|easy]. eauto.
    - cbn [exec] in E. destruct (effect (Repeat k a)) eqn:F; [|easy]. eauto using apply_sound, effect_good.
  Qed.
End Runs.

(** The initial marking that is chosen: places with ω have any number. *)
Definition begin (pb : problem) (choice : M.t N) : M.t N :=
  M._map2 (fun c n => match c with
                      | Some (Fin k) => Some k
                      | Some Omega => n
                      | None => None end) (initially pb) choice.

Lemma begin_initial pb choice : initial pb (den (begin pb choice)).
Proof.
  intros p. unfold oget, den, begin. rewrite M.gmap2 by reflexivity.
  destruct (M.find p (initially pb)) as [[|]|]; auto.
Qed.

(** [fired] has the transitions that the run fires: without one of them the run is rejected. *)
Definition check_run (pb : problem) (choice : M.t N) (fired : M.t unit) (r : run) : bool :=
  match exec (number_some fired (transitions pb)) r (begin pb choice) with
  | Some m => existsb (fun g => mle (sums g) m) (targets pb)
  | None => false
  end.

Theorem check_run_sound pb choice fired r : check_run pb choice fired r = true -> coverable pb.
Proof.
  unfold check_run. destruct (exec _ _ _) as [m|] eqn:E; [|easy]. rewrite existsb_exists. intros (g & Hg & H).
  exists (den m), g. repeat split; auto.
  - eapply exec_sound; eauto; [intros; eapply number_some_in; eauto|]. apply reach_init, begin_initial.
  - intros p. rewrite <- sums_spec. now apply mle_sound.
Qed.
