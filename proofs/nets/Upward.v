(** Upward certificates: a set of minimal markings from above which all covers of targets come, and above which nothing
    starts; relative to an invariant. *)
From Coq Require Import List NArith Lia Bool FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps Invariant.
Local Open Scope N_scope.

(** * Transitions by the places into which they put *)

Definition producers := M.t (list transition).
Definition of_place (ix : producers) (p : place) : list transition :=
  match M.find p ix with Some l => l | None => [] end.
Definition note (t : transition) (ix : producers) : producers :=
  fold_left (fun ix '(p, _) => M.add p (t :: of_place ix p) ix) (post t) ix.
Definition producers_of (l : list transition) : producers := fold_left (fun ix t => note t ix) l (M.empty _).

Lemma of_place_add ix p t q u : In u (of_place ix q) \/ (p = q /\ u = t) ->
  In u (of_place (M.add p (t :: of_place ix p) ix) q).
Proof.
  unfold of_place at 2. destruct (Pos.eq_dec q p) as [->|D].
  - rewrite M.gss. simpl. intros [H|[_ ->]]; auto.
  - rewrite M.gso by auto. fold (of_place ix q). intros [H|[-> _]]; [auto|congruence].
Qed.

Lemma note_has t q u : forall (v : vec) ix,
  In u (of_place ix q) \/ (u = t /\ In q (map fst v)) ->
  In u (of_place (fold_left (fun ix '(p, _) => M.add p (t :: of_place ix p) ix) v ix) q).
Proof.
  induction v as [|[p n] v IH]; intros ix H; simpl in *; [tauto|]. apply IH.
  destruct H as [H|[-> [->|H]]]; auto using of_place_add.
Qed.

Lemma producers_has l : forall ix t p, In t (of_place ix p) \/ (In t l /\ In p (map fst (post t))) ->
  In t (of_place (fold_left (fun ix t => note t ix) l ix) p).
Proof.
  induction l as [|u l IH]; intros ix t p H; simpl in *; [tauto|]. apply IH.
  destruct H as [H|[[->|H] I]]; auto; left; apply note_has; auto.
Qed.

(** What has to be there so that [t] leads above [b]. *)
Definition predecessor (b : M.t N) (t : transition) : M.t N := plus (pre t) (minus (post t) b).

Lemma predecessor_spec b t p : den (predecessor b t) p = den b p - get (post t) p + get (pre t) p.
Proof. unfold predecessor. now rewrite plus_spec, minus_spec. Qed.

Section Upward.
  Variable pb : problem.
  Variable siphon : M.t unit.
  Variable rs : list refutation.
  Variable basis : list (M.t N).
  Variable hint : M.t N -> option positive.      (* untrusted: which element of the basis is below *)

  Definition above (numbered : M.t (M.t N)) (g : M.t N) : bool :=
    match hint g with
    | Some i => match M.find i numbered with Some b => mle b g | None => false end
    | None => false
    end.

  Definition U (m : marking) : Prop := exists b, In b basis /\ has_all m b.

  Lemma above_sound g m : above (number basis) g = true -> has_all m g -> U m.
  Proof.
    unfold above. destruct (hint g) as [i|]; [|easy]. destruct (M.find i _) as [b|] eqn:E; [|easy].
    intros H Hm. exists b. split; eauto using number_in. intros p.
    specialize (mle_sound _ _ p H). specialize (Hm p). lia.
  Qed.

  Definition check_upward : bool :=
    if check_siphon pb siphon then
      match separators pb siphon rs with
      | Some l =>
        let numbered := number basis in
        let good g := if above numbered g then true else outside siphon l g in
        let ix := producers_of (transitions pb) in
        forallb (fun g => good (sums g)) (targets pb) &&
        forallb (fun b =>
          negb (entries (fun p n => match oget (initially pb) p with Fin k => n <=? k | Omega => true end) b) &&
          entries (fun p _ => forallb (fun t => good (predecessor b t)) (of_place ix p)) b) basis
      | None => false
      end
    else false.

  Lemma produces_or_not (v : vec) (b : M.t N) :
    (exists p, In p (map fst v) /\ exists n, M.find p b = Some n) \/
    (forall p, In p (map fst v) -> ~ exists n, M.find p b = Some n).
  Proof.
    induction (map fst v) as [|q l [(p & I & F)|H]].
    - right. intros p [].
    - left. exists p. simpl. auto.
    - destruct (M.find q b) as [n|] eqn:F.
      + left. exists q. simpl. eauto.
      + right. intros p [<-|I]; auto. intros [n Hn]. congruence.
  Qed.

  Theorem check_upward_sound : check_upward = true -> ~ coverable pb.
  Proof.
    unfold check_upward. destruct (check_siphon pb siphon) eqn:Hs; [|easy].
    destruct (separators pb siphon rs) as [l|] eqn:E; [|easy].
    rewrite andb_true_iff, !forallb_forall. intros [Ht Hb].
    assert (Good : forall g m, reachable pb m -> has_all m g ->
      (if above (number basis) g then true else outside siphon l g) = true -> U m).
    { intros g m R Hg H. destruct (above (number basis) g) eqn:A; [eauto using above_sound|].
      destruct (outside_sound pb siphon Hs l g m (separators_valid _ _ _ _ E) H R Hg). }
    assert (Inv : forall m, reachable pb m -> ~ U m).
    { induction 1 as [m Hm|m t m' R IH Hi Hf]; intros (b & Hj & Hc);
        specialize (Hb _ Hj); apply andb_true_iff in Hb; destruct Hb as [Hn Hp].
      - apply negb_true_iff, Bool.not_true_iff_false in Hn. apply Hn.
        apply entries_complete. intros p n I.
        specialize (Hm p). specialize (Hc p). unfold den in Hc. rewrite I in Hc. destruct (oget (initially pb) p); auto. apply N.leb_le. lia.
      - (* either the transition puts nothing on places of b, or it has been looked at *)
        apply IH. destruct (produces_or_not (post t) b) as [(p & Ip & n & In')|None'].
        + apply (entries_sound _ _ Hp) in In'. cbv beta in In'. rewrite forallb_forall in In'.
          apply (Good (predecessor b t) m R).
          * intros q. rewrite predecessor_spec. specialize (Hc q).
            destruct (Hf q) as [He F]. rewrite F in Hc. lia.
          * apply In'. apply producers_has. auto.
        + exists b. split; auto. intros p. specialize (Hc p).
          destruct (Hf p) as [He F]. rewrite F in Hc. unfold den in *.
          destruct (M.find p b) as [n|] eqn:Fb; [|lia].
          assert (get (post t) p = 0) by (apply get_notin; intros J; apply (None' p J); eauto). lia. }
    intros (m & g & R & Hg & Hc). apply (Inv m R). apply (Good (sums g) m R); auto using covers_has_all.
  Qed.
End Upward.
