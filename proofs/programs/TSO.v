(** Axiomatic x86-TSO for programs, and that robustness against C11 (hence against release/acquire) carries over to it: each
    execution that x86-TSO allows is C11-consistent, whatever the orderings of its accesses. *)
From Coq Require Import List Relations Classical.
Import ListNotations.
From Palisade Require Import LastEvent AcyclicModels Sorting Runs Programs.

(** Program order that store buffers keep: all but from a store to a later load. An update both reads and writes; a locked
    instruction or an [mfence] is an update, the latter of a location that nothing else uses. C11's fences do nothing. *)
Definition ppo {E} (X : execution E) (a b : E) : Prop :=
  po X a b /\ ((reads X a /\ (reads X b \/ writes X b)) \/ (writes X a /\ writes X b)).

(** Program order between accesses of one location. *)
Definition poloc {E} (X : execution E) (a b : E) : Prop :=
  po X a b /\ place_of X a = place_of X b /\ (reads X a \/ writes X a) /\ (reads X b \/ writes X b).

(** x86-TSO: each location is coherent, ppo and external rf, mo and fr have a common order, updates are atomic. *)
Definition TSO_consistent {E} (X : execution E) (l : list E) : Prop :=
  AcyclicModels.consistent E (rf X) (mo X) (writes X) bool
    (tso E (po X) (rf X) (mo X) (ppo X) (poloc X)) (events E l).

Definition TSO_robust (P : program) : Prop :=
  forall threads, instance P threads ->
  forall (E : Type) (X : execution E) (l : list E),
  well_formed X -> graph_of P threads X l -> TSO_consistent X l -> SC_consistent X l.

Section Stronger.
  Variable E : Type.
  Variable X : execution E.
  Hypothesis WF : well_formed X.
  Variable l : list E.
  Hypothesis Sorted : sorted E (po X) (rf X) l.
  Hypothesis Cons : TSO_consistent X l.

  Notation H := (events E l).
  Notation step := (tso E (po X) (rf X) (mo X) (ppo X) (poloc X)).
  Notation ghb := (clos_trans E (step true H)).
  Notation uni := (clos_trans E (step false H)).
  Notation frel := (LastEvent.frel E (rf X) (mo X)).

  Lemma po_not_back a b : H a -> H b -> po X a b -> ~ po X b a.
  Proof.
    intros Ha Hb P Q. destruct (in_split _ _ Ha) as (l1 & l2 & El).
    destruct (Sorted l1 a l2 El) as [_ O]. destruct (in_split _ _ Hb) as (k1 & k2 & Ek).
    destruct (Sorted k1 b k2 Ek) as [_ O'].
    (* b is behind a, and a behind b *)
    assert (A : In a k1 \/ a = b \/ In a k2) by (rewrite Ek in Ha; apply in_app_or in Ha; simpl in Ha; intuition).
    destruct A as [A|[A|A]].
    - destruct (O' a (or_introl A)) as [C _]. contradiction.
    - subst. destruct (O' b (or_intror eq_refl)) as [C _]. contradiction.
    - destruct (in_split _ _ A) as (m1 & m2 & Em).
      assert (E2 : l = (k1 ++ b :: m1) ++ a :: m2) by (rewrite Ek, Em, <- app_assoc; reflexivity).
      destruct (Sorted _ a _ E2) as [_ O2]. destruct (O2 b) as [C _]; [left; apply in_or_app; simpl; auto|]. contradiction.
  Qed.

  Lemma po_irr a : H a -> ~ po X a a.
  Proof. intros Ha P. exact (po_not_back a a Ha Ha P P). Qed.

  Lemma rf_irr a : H a -> ~ rf X a a.
  Proof.
    intros Ha R. destruct (in_split _ _ Ha) as (l1 & l2 & El). destruct (Sorted l1 a l2 El) as [_ O].
    destruct (O a) as [_ C]; auto.
  Qed.

  Lemma po_trans a b c : H a -> H b -> H c -> po X a b -> po X b c -> po X a c.
  Proof.
    intros Ha Hb Hc P Q. assert (T : tid X a = tid X c) by (rewrite (po_tid X WF _ _ P); apply (po_tid X WF _ _ Q)).
    destruct (po_total X WF a c T) as [->|[R|R]]; auto.
    - destruct (po_not_back b c Hb Hc Q P).
    - exfalso. (* c is before a: then b is before c in the list and after it *)
      destruct (in_split _ _ Ha) as (l1 & l2 & El). destruct (Sorted l1 a l2 El) as [Fa _].
      assert (C : In c l1). { rewrite El in Hc. apply in_app_or in Hc. destruct Hc as [|[->|I]]; auto.
        - destruct (po_irr c); auto. 
        - destruct (in_split _ _ I) as (m1 & m2 & Em).
          destruct (Sorted (l1 ++ a :: m1) c m2) as [_ O]; [rewrite El, Em, <- app_assoc; reflexivity|].
          destruct (O a) as [D _]; [left; apply in_or_app; simpl; auto|]. contradiction. }
      destruct (in_split _ _ C) as (n1 & n2 & En).
      destruct (in_split _ _ Hb) as (k1 & k2 & Ek). destruct (Sorted k1 b k2 Ek) as [_ O'].
      assert (Ca : In c k1 \/ c = b \/ In c k2) by (rewrite Ek in Hc; apply in_app_or in Hc; simpl in Hc; intuition).
      destruct Ca as [Ca|[Ca|Ca]].
      + destruct (O' c (or_introl Ca)) as [D _]. contradiction.
      + subst c. destruct (po_irr b); auto.
      + assert (Aa : In a k1 \/ a = b \/ In a k2) by (rewrite Ek in Ha; apply in_app_or in Ha; simpl in Ha; intuition).
        destruct Aa as [Aa|[Aa|Aa]].
        * (* a before b before c, but c before a *)
          destruct (in_split _ _ Ca) as (m1 & m2 & Em).
          destruct (Sorted (k1 ++ b :: m1) c m2) as [_ O2]; [rewrite Ek, Em, <- app_assoc; reflexivity|].
          destruct (O2 a) as [D _]; [left; apply in_or_app; auto|]. contradiction.
        * subst a. destruct (po_irr b); auto.
        * destruct (in_split _ _ Aa) as (m1 & m2 & Em).
          destruct (Sorted (k1 ++ b :: m1) a m2) as [_ O2]; [rewrite Ek, Em, <- app_assoc; reflexivity|].
          destruct (O2 b) as [D _]; [left; apply in_or_app; simpl; auto|]. contradiction.
  Qed.

  Lemma atom w u : H w -> H u -> rf X w u -> writes X u -> mo X w u.
  Proof. intros Hw Hu R W. destruct Cons as [_ A]. exact (proj1 (A w u Hw Hu R W)). Qed.

  Lemma uni_irr a : ~ uni a a.
  Proof. destruct Cons as [C _]. apply (C false). Qed.
  Lemma ghb_irr a : ~ ghb a a.
  Proof. destruct Cons as [C _]. apply (C true). Qed.

  Lemma ghb_step a b : H a -> H b ->
    ppo X a b \/ (rf X a b /\ ~ po X a b) \/ mo X a b \/ frel H a b -> ghb a b.
  Proof. intros. apply t_step. split; [|split]; auto. Qed.
  Lemma uni_step a b : H a -> H b ->
    poloc X a b \/ rf X a b \/ mo X a b \/ frel H a b -> uni a b.
  Proof. intros. apply t_step. split; [|split]; auto. Qed.
  Lemma ppo_ghb a b : H a -> H b -> ppo X a b -> ghb a b.
  Proof. intros. apply ghb_step; auto. Qed.

  (** An internal rf agrees with program order. *)
  Lemma rf_internal w r : H w -> H r -> rf X w r -> po X w r \/ ghb w r.
  Proof.
    intros Hw Hr R. destruct (classic (po X w r)) as [|N]; auto. right. apply ghb_step; auto.
  Qed.

  (** ** Happens-before: program order, or a path of the common order from a write to a read, with program order at its ends. *)
  Definition path (x y : E) : Prop :=
    exists w r, H w /\ H r /\ writes X w /\ reads X r /\ (x = w \/ po X x w) /\ ghb w r /\ (r = y \/ po X r y).

  Lemma hb_path x y : clos_trans E (porf E (po X) (rf X) H) x y -> H x /\ H y /\ (po X x y \/ path x y).
  Proof.
    intros C. apply clos_trans_tn1 in C. induction C as [y (Hx & Hy & S)|y z (Hy & Hz & S) C IH].
    - split; auto. split; auto. destruct S as [S|S]; auto. destruct (rf_internal _ _ Hx Hy S) as [|G]; auto. right.
      exists x, y. assert (Wx := rf_write X WF _ _ S). assert (Ry := rf_read X WF _ _ S). repeat (split; auto).
    - destruct IH as (Hx & _ & IH). split; auto. split; auto.
      assert (S' : po X y z \/ (rf X y z /\ ghb y z)).
      { destruct S as [S|S]; auto. destruct (rf_internal _ _ Hy Hz S); auto. }
      destruct S' as [P|[R G]]; destruct IH as [Q|(w & r & Hw & Hr & Ww & Rr & A & B & D)].
      + left. apply (po_trans x y z); auto.
      + right. exists w, r. repeat (split; auto). right. destruct D as [->|D]; auto. apply (po_trans r y z); auto.
      + right. exists y, z. assert (Wy := rf_write X WF _ _ R). assert (Rz := rf_read X WF _ _ R). repeat (split; auto).
      + right. exists w, z. assert (Wy := rf_write X WF _ _ R). assert (Rz := rf_read X WF _ _ R). repeat (split; auto).
        destruct D as [->|D]; [eapply t_trans; eauto|]. eapply t_trans; [exact B|]. eapply t_trans; [|exact G].
        apply ppo_ghb; auto. split; auto.
  Qed.

  (** A path from [x] is one of the common order, if [x] accesses; so is one to [y]. *)
  Lemma path_ghb x y : H x -> H y -> (reads X x \/ writes X x) -> (reads X y \/ writes X y) -> path x y -> ghb x y.
  Proof.
    intros Hx Hy Ax Ay (w & r & Hw & Hr & Ww & Rr & A & B & D).
    assert (B' : ghb x r).
    { destruct A as [->|A]; auto. eapply t_trans; [|exact B]. apply ppo_ghb; auto. split; auto. destruct Ax; auto. }
    destruct D as [<-|D]; auto. eapply t_trans; [exact B'|]. apply ppo_ghb; auto. split; auto.
  Qed.

  Lemma path_irr x : H x -> ~ path x x.
  Proof.
    intros Hx (w & r & Hw & Hr & Ww & Rr & A & B & D). apply (ghb_irr w). eapply t_trans; [exact B|].
    assert (P : r = w \/ po X r w).
    { destruct A as [->|A], D as [<-|D]; auto. right. apply (po_trans r x w); auto. }
    destruct P as [->|P]; [exact B|]. apply ppo_ghb; auto. split; auto.
  Qed.

  (** ** Extended coherence order: steps of the common order, but for what a load reads from its own thread at the end. *)
  Definition ends (y x : E) : Prop :=
    ghb y x \/ exists w, H w /\ (y = w \/ ghb y w) /\ rf X w x /\ po X w x /\ ~ writes X x.

  Lemma step_ends y x : H y -> H x -> rf X y x \/ mo X y x \/ frel H y x -> ends y x.
  Proof.
    intros Hy Hx [R|S].
    - destruct (classic (writes X x)) as [W|N].
      + left. apply ghb_step; auto. right; right; left. now apply atom.
      + destruct (rf_internal _ _ Hy Hx R) as [P|G]; [|left; auto]. right. exists y. auto 6.
    - left. apply ghb_step; auto.
  Qed.

  Lemma eco_ends y x : eco E (rf X) (mo X) H y x -> H y /\ H x /\ place_of X y = place_of X x /\ uni y x /\ ends y x.
  Proof.
    intros C. apply clos_trans_tn1 in C.
    assert (One : forall y x, ecostep E (rf X) (mo X) H y x -> H y /\ H x /\ place_of X y = place_of X x /\ uni y x /\ ends y x).
    { clear - WF Cons. intros y x (Hy & Hx & S). split; auto. split; auto. split; [|split; [|now apply step_ends]].
      - destruct S as [S|[S|(w & _ & R & M & _)]]; [eapply rf_loc; eauto|eapply mo_loc; eauto|].
        rewrite <- (rf_loc X WF _ _ R). eapply mo_loc; eauto.
      - apply uni_step; auto. }
    induction C as [x S|x z S C IH]; [auto|].
    destruct IH as (Hy & Hx & Lx & U & En). destruct (One _ _ S) as (_ & Hz & Lz & U' & En').
    split; auto. split; auto. split; [congruence|]. split; [eapply t_trans; eauto|].
    destruct En as [G|(w & Hw & A & R & P & N)].
    - destruct En' as [G'|(w & Hw & A & R & P & N)]; [left; eapply t_trans; eauto|]. right. exists w. split; auto. split; auto.
      right. destruct A as [<-|A]; auto. eapply t_trans; eauto.
    - (* x is a load, so fr comes next, and w is before z in mo *)
      left. assert (M : mo X w z).
      { destruct S as (_ & _ & [S|[S|(v & _ & R' & M & _)]]).
        - destruct N. eapply rf_write; eauto.
        - destruct N. now destruct (mo_write X WF _ _ S).
        - now rewrite (rf_fun X WF _ _ _ R R'). }
      assert (G : ghb w z) by (apply ghb_step; auto).
      destruct A as [->|A]; auto. eapply t_trans; eauto.
  Qed.

  Theorem TSO_is_C11_consistent : C11_consistent X l.
  Proof.
    assert (HB : forall x y, hb E (po X) (sync location value E (lab X) (po X) (rf X)) H x y -> H x /\ H y /\ (po X x y \/ path x y)).
    { intros x y C. apply hb_path. induction C as [x y (Hx & Hy & [S|S])|x y z _ I1 _ I2].
      - apply t_step. repeat split; auto.
      - exact (sync_porf _ _ _ _ _ _ _ _ _ S).
      - eapply t_trans; eauto. }
    split; [|split].
    - intros x C. destruct (HB _ _ C) as (Hx & _ & [P|P]); [exact (po_irr x Hx P)|exact (path_irr x Hx P)].
    - intros x y C D. destruct (HB _ _ C) as (Hx & Hy & B). destruct (eco_ends _ _ D) as (_ & _ & L & U & En).
      assert (Acc : (reads X y \/ writes X y) /\ (reads X x \/ writes X x)).
      { assert (One : forall a b, ecostep E (rf X) (mo X) H a b -> (reads X a \/ writes X a) /\ (reads X b \/ writes X b)).
        { intros a b (_ & _ & [S|[S|(v & _ & R' & M & _)]]).
          - split; [right; eapply rf_write; eauto|left; eapply rf_read; eauto].
          - destruct (mo_write X WF _ _ S). auto.
          - destruct (mo_write X WF _ _ M). split; auto. left. eapply rf_read; eauto. }
        clear - D One. split.
        - apply clos_trans_t1n in D. inversion D as [? S|? ? S]; destruct (One _ _ S); auto.
        - apply clos_trans_tn1 in D. inversion D as [? S|? ? S]; destruct (One _ _ S); auto. }
      destruct Acc as [Ay Ax]. destruct B as [P|P].
      + apply (uni_irr x). eapply t_trans; [|exact U]. apply uni_step; auto. left. repeat split; auto.
      + destruct En as [G|(w & Hw & A & R & Pw & N)].
        * apply (ghb_irr x). eapply t_trans; [apply path_ghb; eauto|exact G].
        * (* x is a load behind w in its thread, so w is before what x comes before *)
          assert (Gw : ghb w y).
          { apply path_ghb; auto; [right; eapply rf_write; eauto|].
            destruct P as (v & r & Hv & Hr & Wv & Rr & B & G & D'). exists v, r. repeat (split; auto).
            right. destruct B as [<-|B]; [contradiction|]. apply (po_trans w x v); auto. }
          apply (ghb_irr w). destruct A as [->|A]; [exact Gw|exact (t_trans _ _ _ _ _ Gw A)].
    - destruct Cons as [_ A]. exact A.
  Qed.
End Stronger.

(** ** Whoever is robust against C11 is robust against x86-TSO. *)
Theorem robust_TSO P : robust P -> TSO_robust P.
Proof.
  intros R threads I E X l WF G C. apply (R threads I E X l WF G).
  apply TSO_is_C11_consistent; auto. apply G.
Qed.
