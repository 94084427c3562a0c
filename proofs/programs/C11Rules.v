(** The rules for C11: what threads know and what locations pass on, and that this keeps the meaning of the bits in models/Runs.v. *)
From Coq Require Import List NArith Bool Relations Classical.
Import ListNotations.
From Palisade Require Import LastEvent Sorting Runs Programs AttackNet Moves Start Following.

(** A thread that has joined knows nothing, or would know behind an acquiring fence ([Suspects]), or knows, or knew at its last
    releasing fence ([Fenced]). *)
Definition has_cur (m : mark) : bool := match m with Knows | Fenced => true | _ => false end.
Definition has_acq (m : mark) : bool := match m with Suspects | Knows | Fenced => true | _ => false end.
Definition has_rel (m : mark) : bool := match m with Fenced => true | _ => false end.
Definition mark_with (rel cur acq : bool) : mark :=
  if rel then Fenced else if cur then Knows else if acq then Suspects else Joined.

Definition is_passed (s : message) : bool := match s with Passes => true | _ => false end.
Definition is_overlooked (s : message) : bool := match s with Overlooked => true | _ => false end.

(** The thread after an access of a location whose last write says [s]. *)
Definition after_access (reading acquiring : bool) (m : mark) (s : message) : mark :=
  let got := reading && is_passed s in
  let cur := has_cur m || is_overlooked s || (acquiring && got) in
  mark_with (has_rel m) cur (has_acq m || cur || got).

(** The thread after a fence. *)
Definition after_fence (acquiring releasing : bool) (m : mark) : mark :=
  match m with
  | Apart => Apart
  | _ => let cur := has_cur m || (acquiring && has_acq m) in
         mark_with (has_rel m || (releasing && cur)) cur (has_acq m || cur)
  end.

(** What a write passes on, by a thread that was at [m] and is at [m']; an update goes on with the release sequence. *)
Definition pass (reading writing releasing : bool) (m m' : mark) (s : message) : message :=
  if writing then
    match s with
    | Overlooked => Overlooked
    | _ => if has_rel m || (releasing && has_cur m') || (reading && is_passed s) then Passes else Silent
    end
  else s.

Definition c11 : rules := {|
  told := [Silent; Passes; Overlooked];
  access_mark := fun reading _ acquiring => after_access reading acquiring;
  fence_mark := after_fence;
  passing := pass;
  guess_mark := fun _ => Knows;
  last_marks := fun _ => [Joined; Suspects] |}.

Section Sound.
  Variable E : Type.
  Variable X : execution E.
  Variables (k2 : list E) (w' e : E).
  Notation x0 := (place_of X w').
  Notation isW := (writes X).
  Notation isR := (reads X).
  Notation loc := (place_of X).
  Notation accesses := (Runs.accesses location value E (lab X)).
  Notation kstep := (Runs.kstep thread location value E (tid X) (lab X) x0).
  Definition known (p : list E) := fold_left kstep (w' :: p) (Runs.knone thread location).
  Hypothesis Ww' : isW w'.
  Hypothesis Ignorant : ~ cur _ _ (known k2) (tid X e).

  Lemma known_snoc p b : known (p ++ [b]) = kstep (known p) b.
  Proof. unfold known. rewrite app_comm_cons, fold_left_app. reflexivity. Qed.

  Definition sees (p : list E) (t : thread) (m : mark) : Prop :=
    (has_cur m = true -> cur _ _ (known p) t) /\ (has_acq m = true -> acq _ _ (known p) t) /\ (has_rel m = true -> rel _ _ (known p) t).
  Definition tells (p : list E) (x : location) (s : message) : Prop :=
    In s (told c11) /\ (s = Passes -> Runs.msg _ _ (known p) x) /\ (s = Overlooked <-> x = x0).

  (** What an access or a fence adds, in the words of the bits. *)
  Notation learnt p b := (cur _ _ (known p) (tid X b) \/ (accesses b /\ loc b = x0) \/
    (acquires _ _ (lab X b) /\ ((isR b /\ Runs.msg _ _ (known p) (loc b)) \/ (~ accesses b /\ acq _ _ (known p) (tid X b))))).

  Theorem c11_sound_rules : sound_rules c11 E X k2 w' e sees tells.
  Proof.
    split.
    - intros t _. repeat split; discriminate.
    - intros u _. split; [|discriminate]. assert (C : cur _ _ (known []) (tid X w')) by (unfold known; simpl; right; split; auto; right; left; split; auto; right; exact Ww').
      split; [auto|]. split; [|discriminate]. intros _. unfold known. simpl. right. split; auto. left. right. left. split; auto. right. exact Ww'.
    - intros x. unfold tells. destruct (Pos.eqb_spec x x0); simpl; repeat split; auto; try discriminate; try contradiction; congruence.
    - intros p x s (A & _). exact A.
    - intros p s (_ & _ & A). now apply A.
    - intros p b q fa fr m _ Nb Aq Rl Nm (Kc & Ka & Kr).
      assert (Nm' : after_fence fa fr m <> Apart) by (destruct m, fa, fr; simpl; congruence). split; auto.
      unfold sees. rewrite known_snoc. unfold Runs.kstep. simpl.
      assert (C' : has_cur (after_fence fa fr m) = true -> learnt p b).
      { intros C. destruct (has_cur m) eqn:Cm; [left; auto|]. right. right.
        assert (fa = true /\ has_acq m = true) as [-> Am] by (destruct m, fa, fr; simpl in *; try discriminate; auto).
        split; [now apply Aq|]. right. auto. }
      split; [|split].
      + intros C. right. split; auto.
      + intros C. destruct (has_acq m) eqn:Am; [left; auto|]. right. split; auto. left. apply C'.
        destruct m, fa, fr; simpl in *; try discriminate; auto.
      + intros C. destruct (has_rel m) eqn:Rm; [left; auto|]. right. split; auto. split; auto.
        assert (fr = true /\ has_cur (after_fence fa fr m) = true) as [-> Cm]
          by (destruct m, fa, fr; simpl in *; try discriminate; auto).
        split; [now apply Rl|now apply C'].
    - intros p b q rd wr ac re m s _ Ab Er Ew Ea Ere (Kc & Ka & Kr) (Ts & Tp & To). cbn [access_mark passing c11].
      set (m' := after_access rd ac m s).
      assert (Got : rd && is_passed s = true -> isR b /\ Runs.msg _ _ (known p) (loc b)).
      { intros G. apply andb_prop in G. destruct G as [G1 G2]. split; [now apply Er|]. apply Tp. destruct s; try discriminate; reflexivity. }
      assert (C' : has_cur m' = true -> learnt p b).
      { intros C. destruct (has_cur m) eqn:Cm; [left; auto|]. right.
        destruct (is_overlooked s) eqn:O.
        - left. split; auto. apply To. destruct s; try discriminate; reflexivity.
        - right. assert (G : ac = true /\ rd && is_passed s = true).
          { unfold m', after_access in C. rewrite Cm, O in C. destruct m, ac, (rd && is_passed s); simpl in *; try discriminate; auto. }
          destruct G as [-> G]. split; [now apply Ea|]. left. now apply Got. }
      assert (Nap : m' <> Apart) by (unfold m', after_access; destruct m, s, ac, rd; simpl; discriminate).
      split; [|split; [exact Nap|]].
      + unfold sees. rewrite known_snoc. unfold Runs.kstep. simpl. split; [|split].
        * intros C. right. split; auto.
        * intros C. destruct (has_acq m) eqn:Am; [left; auto|]. right. split; auto.
          destruct (has_cur m') eqn:Cm; [left; now apply C'|right].
          apply Got. unfold m', after_access in C, Cm.
          destruct m, (is_overlooked s), ac, (rd && is_passed s); simpl in *; try discriminate; auto.
        * intros C. left. apply Kr. unfold m', after_access in C.
          destruct m, (is_overlooked s), ac, (rd && is_passed s); simpl in *; try discriminate; auto.
      + unfold tells. rewrite known_snoc. unfold Runs.kstep. simpl. unfold pass. split; [|split].
        * destruct wr; auto. destruct s; simpl; auto; destruct (_ || _); simpl; auto.
        * intros Hx. destruct wr.
          -- left. split; [now apply Ew|]. split; [reflexivity|].
             assert (Cases : has_rel m = true \/ (re = true /\ has_cur m' = true) \/ rd && is_passed s = true).
             { destruct (has_rel m); auto. destruct re, (has_cur m'); auto; destruct rd; auto;
                 destruct s; simpl in *; try discriminate; auto. }
             destruct Cases as [C|[[-> C]|C]].
             ++ left. auto.
             ++ right. left. split; [now apply Ere|]. now apply C'.
             ++ right. right. now apply Got.
          -- right. split; [|auto]. intros [W _]. apply Ew in W. discriminate.
        * rewrite <- To. destruct wr; [|tauto]. destruct s; simpl; try tauto;
            destruct (has_rel m || _ || _); split; intros; try discriminate; tauto.
    - intros p b q t m _ D (A & B & C). unfold sees. rewrite known_snoc. unfold Runs.kstep. simpl. split; [|split]; left; auto.
    - intros p b q x s _ D (A & B & C). split; auto. split; auto. intros Hx. rewrite known_snoc. unfold Runs.kstep. simpl.
      right. split; [|auto]. intros [W Q]. destruct D as [D|D]; [contradiction|]. apply D. right. exact W.
    - intros m wr _ Nm (A & _). cbn. destruct m; simpl; auto; try congruence; destruct Ignorant; auto.
  Qed.
End Sound.
