(** Lists that respect a relation: an acyclic relation has one, and two of the same elements under a total one are equal. *)
From Coq Require Import Relations Classical List Permutation Sorted.
Import ListNotations.
From Palisade Require Import LastEvent.

Section Sorting.
  Variable A : Type.
  Variable R : A -> A -> Prop.

  (** No edge leads backwards (or from an element to itself). *)
  Definition forward (k : list A) : Prop := forall k1 x k2, k = k1 ++ x :: k2 -> forall y, In y k1 \/ y = x -> ~ R x y.

  Definition acyclic (P : A -> Prop) := forall x, ~ clos_trans A (fun a b => P a /\ P b /\ R a b) x x.

  Lemma minimal (P : A -> Prop) l : acyclic P -> (forall x, In x l -> P x) -> l <> [] ->
    exists m, In m l /\ forall x, In x l -> ~ clos_trans A (fun a b => P a /\ P b /\ R a b) x m.
  Proof.
    intros Ac. induction l as [|a l IH]; intros HP Hn; [congruence|].
    destruct l as [|b l].
    - exists a. split; [simpl; auto|]. intros x [<-|[]]. apply Ac.
    - destruct IH as (m & Im & Mm); [intros; apply HP; simpl; auto|congruence|].
      destruct (classic (clos_trans A (fun a b => P a /\ P b /\ R a b) a m)) as [Y|N].
      + exists a. split; [simpl; auto|]. intros x [<-|I]; [apply Ac|].
        intros C. apply (Mm x I). eapply t_trans; eauto.
      + exists m. split; [simpl; auto|]. intros x [<-|I]; auto.
  Qed.

  Lemma forward_nil : forward [].
  Proof. intros [|? ?] x k2 E; discriminate. Qed.

  Lemma forward_cons a k : ~ R a a -> (forall x, In x k -> ~ R x a) -> forward k -> forward (a :: k).
  Proof.
    intros Ha Hx F [|b k1] x k2 E y Hy; simpl in E; inversion E; subst.
    - destruct Hy as [[]|Hy]. subst. auto.
    - destruct Hy as [[Hy|Hy]|Hy]; subst.
      + apply Hx. apply in_or_app; simpl; auto.
      + apply (F k1 x k2 eq_refl). auto.
      + apply (F k1 x k2 eq_refl). auto.
  Qed.

  Lemma topological n : forall l P, length l = n -> NoDup l -> acyclic P -> (forall x, In x l -> P x) ->
    exists k, Permutation l k /\ forward k.
  Proof.
    induction n as [|n IH]; intros l P L ND Ac HP.
    - destruct l; [|discriminate]. exists []. split; auto using forward_nil.
    - destruct (minimal P l Ac HP) as (m & Im & Mm); [intros ->; discriminate|].
      destruct (in_split _ _ Im) as (l1 & l2 & ->).
      destruct (IH (l1 ++ l2) P) as (k & Pk & Fk); auto.
      + rewrite app_length in *. simpl in L. rewrite PeanoNat.Nat.add_succ_r in L. now inversion L.
      + eapply NoDup_remove_1; eauto.
      + intros x I. apply HP. apply in_app_or in I. apply in_or_app. simpl. tauto.
      + exists (m :: k). split; [etransitivity; [symmetry; apply Permutation_middle|now constructor]|].
        apply forward_cons; auto.
        * intros C. apply (Mm m Im). apply t_step. auto.
        * intros x I C. assert (I' : In x (l1 ++ m :: l2)).
          { apply (Permutation_in _ (Permutation_sym Pk)) in I. apply in_app_or in I. apply in_or_app. simpl. tauto. }
          apply (Mm x I'). apply t_step. auto.
  Qed.

  Lemma forward_app k k' : forward k -> forward k' -> (forall x y, In x k' -> In y k -> ~ R x y) -> forward (k ++ k').
  Proof.
    induction k as [|a k IH]; intros F F' X; simpl; auto. apply forward_cons.
    - apply (F [] a k eq_refl). auto.
    - intros x I. apply in_app_or in I. destruct I as [I|I].
      + destruct (in_split _ _ I) as (k1 & k2 & ->). apply (F (a :: k1) x k2 eq_refl). simpl. auto.
      + apply X; simpl; auto.
    - apply IH; auto; [|intros; apply X; simpl; auto].
      intros k1 x k2 E y Hy. subst. apply (F (a :: k1) x k2 eq_refl). simpl. tauto.
  Qed.

  (** Two forward lists of the same elements, any two of them related, are equal. *)
  Lemma forward_unique k : forall k', NoDup k -> Permutation k k' -> forward k -> forward k' ->
    (forall x y, In x k -> In y k -> x = y \/ R x y \/ R y x) -> k = k'.
  Proof.
    induction k as [|a k IH]; intros k' ND Pm F F' T.
    - now apply Permutation_nil in Pm.
    - destruct k' as [|b k']; [symmetry in Pm; now apply Permutation_nil in Pm|].
      assert (E : a = b).
      { assert (Ib : In b (a :: k)) by (eapply Permutation_in; [symmetry; eauto|simpl; auto]).
        assert (Ia : In a (b :: k')) by (eapply Permutation_in; [eauto|simpl; auto]).
        destruct Ib as [|Ib]; auto. destruct Ia as [|Ia]; auto.
        destruct (T a b) as [|[C|C]]; simpl; auto; exfalso.
        - destruct (in_split _ _ Ia) as (k1 & k2 & ->). apply (F' (b :: k1) a k2 eq_refl b); simpl; auto.
        - destruct (in_split _ _ Ib) as (k1 & k2 & ->). apply (F (a :: k1) b k2 eq_refl a); simpl; auto. }
      subst b. f_equal. inversion ND; subst. apply IH; auto.
      + eapply Permutation_cons_inv; eauto.
      + intros k1 x k2 -> y Hy. apply (F (a :: k1) x k2 eq_refl). simpl. tauto.
      + intros k1 x k2 -> y Hy. apply (F' (a :: k1) x k2 eq_refl). simpl. tauto.
      + intros; apply T; simpl; auto.
  Qed.
End Sorting.
