(** Store buffering: the hypotheses can be met, and the theorem finds the violation. *)
From Coq Require Import Relations Classical List Bool.
Import ListNotations.
From Palisade Require Import LastEvent.

Inductive ev := ix | iy | wx | ry | wy | rx.
Definition pob a b := match a, b with wx, ry | wy, rx => true | _, _ => false end.
Definition rfb a b := match a, b with iy, ry | ix, rx => true | _, _ => false end.
Definition mob a b := match a, b with ix, wx | iy, wy => true | _, _ => false end.
Definition frb a b := match a, b with ry, wy | rx, wx => true | _, _ => false end.
Definition po a b := pob a b = true.
Definition rf a b := rfb a b = true.
Definition mo a b := mob a b = true.
Definition W a := match a with ry | rx => False | _ => True end.
Definition loc a := match a with ix | wx | rx => true | _ => false end.
Definition l := [ix; iy; wx; ry; wy; rx].

Ltac brute := repeat match goal with x : ev |- _ => destruct x end; simpl in *; try tauto; try congruence; auto.

Lemma fr_b P a b : frel ev rf mo P a b -> frb a b = true.
Proof. intros (w & _ & R & M & _). unfold rf, mo in *. destruct w, a, b; simpl in *; congruence. Qed.

Definition hbb a b := pob a b || rfb a b.
Definition ecob a b := rfb a b || mob a b || frb a b.
(** All that are related by reads-from synchronise: release/acquire. *)
Definition syn (P : ev -> Prop) a b := P a /\ P b /\ rf a b.

Lemma hb_b P a b : hb ev po syn P a b -> hbb a b = true.
Proof.
  induction 1 as [x y (_ & _ & [C|(_ & _ & C)])|x y z _ I1 _ I2]; unfold po, rf, hbb in *; destruct x, y; try destruct z; simpl in *; congruence.
Qed.
Lemma eco_b P a b : eco ev rf mo P a b -> ecob a b = true.
Proof.
  induction 1 as [x y (_ & _ & [C|[C|C]])|x y z _ I1 _ I2]; try apply fr_b in C; unfold rf, mo, ecob in *;
    destruct x, y; try destruct z; simpl in *; congruence.
Qed.

Theorem sb_RA : consistent ev po rf mo W syn (events ev l).
Proof.
  split; [|split].
  - intros x H. apply hb_b in H. destruct x; discriminate.
  - intros x y H H'. apply hb_b in H. apply eco_b in H'. destruct x, y; discriminate.
  - intros w u _ _ R Wu. unfold rf in R. destruct w, u; simpl in *; try discriminate; tauto.
Qed.

Theorem sb_not_SC : ~ SC ev po rf mo (events ev l).
Proof.
  intros S. apply (S wx). assert (A : forall e, events ev l e) by (intros []; simpl; tauto).
  apply t_trans with ry; [apply t_step; repeat split; auto; left; reflexivity|].
  apply t_trans with wy.
  { apply t_step. repeat split; auto. right; right; right. exists iy. repeat split; auto; discriminate. }
  apply t_trans with rx; [apply t_step; repeat split; auto; left; reflexivity|].
  apply t_step. repeat split; auto. right; right; right. exists ix. repeat split; auto; discriminate.
Qed.

Theorem sb_violation : exists l1 e l2 w' f, l = l1 ++ e :: l2 /\ violation ev po rf mo W syn (events ev l1) e w' f.
Proof.
  apply violation_complete with (Loc := bool) (loc := loc); auto using sb_RA, sb_not_SC.
  - unfold mo. intros a b H. destruct a, b; simpl in *; try discriminate; auto.
  - unfold mo. intros a b c H H'. destruct a, b, c; simpl in *; congruence.
  - unfold mo. intros a H. destruct a; discriminate.
  - unfold rf. intros a b r H H'. destruct a, b, r; simpl in *; congruence.
  - unfold rf. intros a b H. destruct a, b; simpl in *; try discriminate; auto.
  - intros P x y (A & B & C). apply t_step. repeat split; auto.
  - intros P Q x y I (A & B & C). repeat split; auto.
  - intros H e x y N Hy (A & _ & C). split; [|auto]. destruct A as [A| ->]; auto. destruct (N y (or_introl Hy)). contradiction.
  - unfold mo. intros a b H. destruct a, b; simpl in *; congruence.
  - unfold rf. intros a b H. destruct a, b; simpl in *; congruence.
  - unfold mo. intros a b Wa Wb Lab. destruct a, b; simpl in *; try tauto; try discriminate.
  - intros l1 x l2 E. unfold l in E.
    assert (L : forall (p : list ev) (q : list ev), p = l1 ++ x :: l2 -> p = [ix; iy; wx; ry; wy; rx] -> True) by auto. clear L.
    repeat (destruct l1 as [|? l1]; simpl in E; [injection E; intros; subst; split;
        [simpl; intuition discriminate | simpl; intros y [Hy|Hy]; split; unfold po, rf; intuition subst; discriminate]
      | injection E; clear E; intros E; intros; subst]); destruct l1; discriminate.
Qed.
