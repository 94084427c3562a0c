(** Which programs are checked, and that a program's net starts as its instances do. *)
From Coq Require Import List NArith Lia Bool Permutation FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps Programs AttackNet Moves.

(** Locations are listed once, and no other is accessed. *)
Definition location_of (a : action) : option location :=
  match a with Internal | Fence _ _ => None | Load x _ _ | Store x _ _ | Update x _ _ _ _ => Some x end.

Fixpoint listed_once (l : list location) (seen : M.t unit) : option (M.t unit) :=
  match l with
  | [] => Some seen
  | x :: l' => match M.find x seen with Some _ => None | None => listed_once l' (M.add x tt seen) end
  end.

Definition check_program (P : program) : bool :=
  match listed_once (map fst (memory P)) (M.empty unit) with
  | Some known => forallb (fun e => match location_of (does e) with
                                    | Some x => match M.find x known with Some _ => true | None => false end
                                    | None => true end) (edges P)
  | None => false
  end.

Lemma listed_once_sound l : forall seen known, listed_once l seen = Some known ->
  NoDup l /\ (forall x, In x l -> M.find x seen = None) /\
  (forall x, M.find x known <> None -> M.find x seen <> None \/ In x l).
Proof.
  induction l as [|x l IH]; intros seen known H; simpl in H.
  - inversion H. subst. split; [constructor|]. split; [easy|]. auto.
  - destruct (M.find x seen) eqn:F; [discriminate|]. destruct (IH _ _ H) as (A & B & C).
    assert (Nx : ~ In x l). { intros I. specialize (B _ I). rewrite M.gss in B. discriminate. }
    split; [now constructor|]. split.
    + intros y [<-|I]; auto. specialize (B _ I). destruct (Pos.eq_dec y x) as [->|D]; auto. now rewrite M.gso in B.
    + intros y Hy. destruct (C y Hy) as [K|K]; [|simpl; auto].
      destruct (Pos.eq_dec y x) as [->|D]; [simpl; auto|]. rewrite M.gso in K by auto. auto.
Qed.

Lemma check_program_sound P : check_program P = true ->
  NoDup (map fst (memory P)) /\
  forall e x, In e (edges P) -> location_of (does e) = Some x -> In x (map fst (memory P)).
Proof.
  unfold check_program. destruct (listed_once _ _) as [known|] eqn:L; [|discriminate].
  rewrite forallb_forall. intros H. destruct (listed_once_sound _ _ _ L) as (A & _ & C). split; auto.
  intros e x Ie Ex. specialize (H e Ie). rewrite Ex in H. destruct (C x) as [K|K]; auto.
  - destruct (M.find x known); discriminate || congruence.
  - now rewrite M.gempty in K.
Qed.

(** * The net starts where the program does *)

Definition first_value (P : program) (x : location) : value :=
  match find (fun '(y, _) => Pos.eqb y x) (memory P) with Some (_, v) => v | None => xH end.

Lemma first_value_in P x v : NoDup (map fst (memory P)) -> In (x, v) (memory P) -> first_value P x = v.
Proof.
  unfold first_value. induction (memory P) as [|[y u] l IH]; simpl; intros ND I; [easy|]. inversion ND; subst.
  destruct (Pos.eqb_spec y x) as [->|D].
  - destruct I as [E|I]; [now inversion E|]. destruct H1. apply in_map_iff. exists (x, v). auto.
  - destruct I as [E|I]; [inversion E; congruence|auto].
Qed.

Lemma in_unbounded (ths : list state) p : forall m,
  oget (fold_left (fun m q => M.add (number_of (At q Apart)) Omega m) ths m) p =
  if existsb (fun q => Pos.eqb p (number_of (At q Apart))) ths then Omega else oget m p.
Proof.
  induction ths as [|q ths IH]; intros m; [reflexivity|]. cbn [fold_left existsb]. rewrite IH.
  destruct (existsb _ ths); [now rewrite orb_true_r|]. rewrite orb_false_r. unfold oget.
  destruct (Pos.eqb_spec p (number_of (At q Apart))) as [->|D]; [now rewrite M.gss|now rewrite M.gso].
Qed.

Lemma start_reach rl P threads : NoDup (map fst (memory P)) -> instance P threads ->
  reach rl P (map (fun q => (q, Apart)) threads) (first_value P) (fun _ => Untouched) (fun _ => Silent) [Before].
Proof.
  intros ND (others & Pm & U). apply reach_init. intros p. cbn [initially net_of].
  unfold initially_of. rewrite in_unbounded. destruct (existsb _ (unbounded P)) eqn:X; auto.
  unfold oget, M.map. rewrite M.gmapi.
  assert (E : match M.find p (sums (tokens (starting P))) with Some n => n | None => 0%N end = amount (starting P) p).
  { unfold amount. rewrite <- sums_spec. reflexivity. }
  assert (G : amount (spots P (map (fun q => (q, Apart)) threads) (first_value P) (fun _ => Untouched) (fun _ => Silent) [Before]) p =
              amount (starting P) p).
  { unfold spots, starting. rewrite images_map, collect_flat_map, !amount_app, map_map.
    rewrite (amount_perm _ (map (fun q => At q Apart) (fixed P ++ others))) by now apply Permutation_map.
    rewrite map_app, amount_app.
    assert (Z : amount (map (fun q => At q Apart) others) p = 0%N).
    { clear Pm. induction others as [|q l IH]; [reflexivity|]. cbn [map]. rewrite amount_cons, IH by (intros; apply U; simpl; auto).
      unfold one. destruct (Pos.eqb_spec p (number_of (At q Apart))) as [->|D]; auto. exfalso.
      assert (true = false); [|discriminate]. rewrite <- X. symmetry. apply existsb_exists. exists q.
      split; [apply U; simpl; auto|apply Pos.eqb_refl]. }
    rewrite Z. f_equal; [lia|]. f_equal.
    assert (S : forall l, (forall x v, In (x, v) l -> first_value P x = v) ->
      flat_map (location_spots (first_value P) (fun _ => Untouched) (fun _ => Silent)) (map fst l) =
      flat_map (fun '(x, v) => [Holds x v; Touched x Untouched; Says x Silent]) l).
    { induction l as [|[x v] l IH]; intros F; simpl; auto. rewrite IH by (intros; apply F; simpl; auto).
      now rewrite (F x v) by (simpl; auto). }
    rewrite S; auto. intros. now apply first_value_in. }
  rewrite G. destruct (M.find p (sums (tokens (starting P)))); simpl; auto.
Qed.
