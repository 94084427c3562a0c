(** The rules for x86-TSO: which threads and locations the common order reaches from [w'], and that the rules keep this meaning. So
    evidence about the net that they give shows a program robust against x86-TSO, for any number of threads. *)
From Coq Require Import List NArith Bool Relations Classical Permutation.
Import ListNotations.
From Palisade Require Import Net LastEvent AcyclicModels Sorting Runs Downward Invariant Upward.
From Palisade Require Import Programs AttackNet Moves Start Following TSO.

(** A thread that has joined is not reached, or is by stores alone ([Suspects]; [Fenced], if it also has accessed the location of
    [w']), or is by a read or an update ([Knows]). A location is reached by no access, by reads alone ([Heard]), or by a write. *)
Definition is_reached (m : mark) : bool := match m with Suspects | Fenced | Knows => true | _ => false end.
Definition by_read (m : mark) : bool := match m with Knows => true | _ => false end.
Definition at_home (m : mark) : bool := match m with Fenced => true | _ => false end.
Definition is_heard (s : message) : bool := match s with Silent => false | _ => true end.
Definition is_written (s : message) : bool := match s with Passes | Overlooked => true | _ => false end.
Definition at_guess (s : message) : bool := match s with Overlooked => true | _ => false end.

(** Whether the common order reaches an access: by program order, by what it reads, or by what it overwrites. What is read by a
    thread that stores alone reach may be its own. *)
Definition follows_on (reading writing : bool) (m : mark) (s : message) : bool :=
  by_read m || (is_reached m && writing) || (reading && is_written s && negb (is_reached m)) || (writing && is_heard s).

Definition reached_mark (reading writing : bool) (m : mark) (s : message) : mark :=
  let on := follows_on reading writing m s in
  if by_read m || (on && reading) then Knows
  else if is_reached m || on then (if at_home m || at_guess s then Fenced else Suspects)
  else Joined.

Definition reached_message (reading writing : bool) (m : mark) (s : message) : message :=
  if follows_on reading writing m s then
    match s with Overlooked => Overlooked | Passes => Passes | _ => if writing then Passes else Heard end
  else s.

Definition tso_rules : rules := {|
  told := [Silent; Heard; Passes; Overlooked];
  access_mark := fun reading writing _ => reached_mark reading writing;
  fence_mark := fun _ _ m => m;
  passing := fun reading writing _ m _ => reached_message reading writing m;
  guess_mark := fun by_update => if by_update then Knows else Fenced;
  last_marks := fun writing => if writing then [Joined] else [Joined; Suspects] |}.

Section Sound.
  Variable E : Type.
  Variable X : execution E.
  Hypothesis WF : well_formed X.
  Variables (k1 k2 : list E) (w' e : E).
  Notation k := (k1 ++ w' :: k2).
  Notation H := (events E k).
  Notation x0 := (place_of X w').
  Notation isW := (writes X).
  Notation isR := (reads X).
  Notation loc := (place_of X).
  Notation accesses b := (isR b \/ isW b).
  Notation step := (tso E (po X) (rf X) (mo X) (ppo X) (poloc X)).
  Notation ghb P := (clos_refl_trans E (step true P)).
  Notation last_write := (Runs.last_write location value E (lab X)).
  Hypothesis Ww' : isW w'.
  Hypothesis ND : NoDup k.
  Hypothesis Fw : forward E (LastEvent.scstep E (po X) (rf X) (mo X) H) k.
  Hypothesis Reads : forall p b q, k = p ++ b :: q -> isR b -> exists w, last_write p (loc b) w /\ rf X w b.

  (** * What is reached, followed along the run *)

  Record reach_bits := {
    reached : thread -> Prop;        (* some access of the thread *)
    read_on : thread -> Prop;        (* one that reads *)
    home : thread -> Prop;           (* the thread has accessed the location of [w'] *)
    heard : location -> Prop;        (* some access of the location *)
    written_on : location -> Prop }. (* one that writes *)

  Definition on (st : reach_bits) (b : E) : Prop :=
    let t := tid X b in
    (accesses b /\ read_on st t) \/ (isW b /\ reached st t) \/ (isR b /\ written_on st (loc b) /\ ~ reached st t) \/
    (isW b /\ heard st (loc b)).

  Definition bit_step (st : reach_bits) (b : E) : reach_bits :=
    let t := tid X b in
    {| reached := fun u => reached st u \/ (u = t /\ on st b);
       read_on := fun u => read_on st u \/ (u = t /\ on st b /\ isR b);
       home := fun u => home st u \/ (u = t /\ accesses b /\ loc b = x0);
       heard := fun y => heard st y \/ (y = loc b /\ on st b);
       written_on := fun y => written_on st y \/ (y = loc b /\ on st b /\ isW b) |}.

  Definition bits_start : reach_bits :=
    {| reached := fun u => u = tid X w'; read_on := fun u => u = tid X w' /\ isR w'; home := fun u => u = tid X w';
       heard := fun y => y = x0; written_on := fun y => y = x0 |}.
  Definition bits (p : list E) : reach_bits := fold_left bit_step p bits_start.

  Lemma bits_snoc p b : bits (p ++ [b]) = bit_step (bits p) b.
  Proof. unfold bits. now rewrite fold_left_app. Qed.

  Record meaning (p : list E) : Prop := {
    n_reached : forall t, reached (bits p) t -> exists f, In f (w' :: p) /\ tid X f = t /\ accesses f /\ ghb H w' f;
    n_read : forall t, read_on (bits p) t -> exists f, In f (w' :: p) /\ tid X f = t /\ isR f /\ ghb H w' f;
    n_home : forall t, home (bits p) t -> exists f, In f (w' :: p) /\ tid X f = t /\ accesses f /\ loc f = x0;
    n_heard : forall y, heard (bits p) y -> exists f, In f (w' :: p) /\ accesses f /\ loc f = y /\ ghb H w' f;
    n_written : forall y, written_on (bits p) y -> heard (bits p) y /\ exists w, last_write (k1 ++ w' :: p) y w /\ ghb H w' w /\ reached (bits p) (tid X w) }.

  Lemma bits_mean p : forall q, k2 = p ++ q -> meaning p.
  Proof.
    induction p as [|b p IH] using rev_ind; intros q Ek.
    - split; unfold bits; simpl.
      + intros t ->. exists w'. repeat split; auto. apply rt_refl.
      + intros t [-> R]. exists w'. repeat split; auto. apply rt_refl.
      + intros t ->. exists w'. repeat split; auto.
      + intros y ->. exists w'. repeat split; auto. apply rt_refl.
      + intros y ->. split; auto. exists w'. split; [|split; [apply rt_refl|auto]]. exists k1, []. repeat split; auto.
    - rewrite <- app_assoc in Ek. simpl in Ek. destruct (IH _ Ek) as [Ir Id Ih Ia Iw].
      assert (Kp : k = (k1 ++ w' :: p) ++ b :: q) by (rewrite Ek, <- app_assoc; reflexivity).
      assert (Hb : H b) by (unfold events; rewrite Kp; apply in_or_app; simpl; auto).
      assert (Hf : forall f, In f (w' :: p) -> H f /\ In f (k1 ++ w' :: p)).
      { intros f I. assert (J : In f (k1 ++ w' :: p)) by (apply in_or_app; auto). split; auto.
        unfold events. rewrite Kp. apply in_or_app. auto. }
      assert (Fresh : forall f, In f (k1 ++ w' :: p) -> f <> b).
      { intros f I ->. rewrite Kp in ND. apply NoDup_remove_2 in ND. apply ND. apply in_or_app. auto. }
      assert (Fore : forall f, In f (k1 ++ w' :: p) -> ~ LastEvent.scstep E (po X) (rf X) (mo X) H b f).
      { intros f I S. apply (Fw _ b q Kp f); auto. }
      assert (HF : forall f, In f (k1 ++ w' :: p) -> H f) by (intros f I; unfold events; rewrite Kp; apply in_or_app; auto).
      assert (Po : forall f, In f (k1 ++ w' :: p) -> tid X f = tid X b -> po X f b).
      { intros f I T. destruct (po_total X WF f b T) as [Q|[Q|Q]]; auto; [destruct (Fresh f I Q)|].
        destruct (Fore f I). split; [exact Hb|]. split; [apply HF; auto|]. auto. }
      assert (Mo : forall f, In f (k1 ++ w' :: p) -> isW f -> isW b -> loc f = loc b -> mo X f b).
      { intros f I Wf Wb L. destruct (mo_total X WF f b Wf Wb L) as [Q|[Q|Q]]; auto; [destruct (Fresh f I Q)|].
        destruct (Fore f I). split; [exact Hb|]. split; [apply HF; auto|]. auto. }
      assert (Src : isR b -> forall f, last_write (k1 ++ w' :: p) (loc b) f -> rf X f b).
      { intros Rb f Lf. destruct (Reads _ _ _ Kp Rb) as (w & Lw & Rw). now rewrite (last_write_unique _ _ _ _ _ _ _ _ Lf Lw). }
      assert (Next : forall f, H f -> ghb H w' f -> ppo X f b \/ (rf X f b /\ ~ po X f b) \/ mo X f b \/ LastEvent.frel E (rf X) (mo X) H f b -> ghb H w' b).
      { intros f Hff G S. eapply rt_trans; [exact G|]. apply rt_step. split; [exact Hff|]. split; [exact Hb|exact S]. }
      assert (On : on (bits p) b -> accesses b /\ ghb H w' b).
      { intros [[A R]|[[W R]|[[R [W N]]|[W R]]]]; (split; [auto|]).
        - destruct (Id _ R) as (f & If & Tf & Rf & Gf). destruct (Hf _ If) as [Hff Jf]. apply (Next f); auto. left. split; auto.
        - destruct (Ir _ R) as (f & If & Tf & Af & Gf). destruct (Hf _ If) as [Hff Jf]. apply (Next f); auto. left. split; auto.
          destruct Af; auto.
        - destruct (Iw _ W) as (_ & w & Lw & Gw & Rw). assert (Jw : In w (k1 ++ w' :: p)).
          { destruct Lw as (a1 & a2 & Eq & _). rewrite Eq. apply in_or_app. simpl. auto. }
          apply (Next w); auto. right. left. split; auto. intros Q. apply N. now rewrite <- (po_tid X WF _ _ Q).
        - destruct (Ia _ R) as (f & If & Af & Lf & Gf). destruct (Hf _ If) as [Hff Jf]. apply (Next f); auto.
          destruct (classic (isW f)) as [Wf|Nf]; [right; right; left; auto|]. destruct Af as [Rf|]; [|contradiction].
          right. right. right.
          destruct (in_split _ _ Jf) as (c1 & c2 & Ec).
          destruct (Reads c1 f (c2 ++ b :: q)) as (w & Lw & Rw); [rewrite Kp, Ec, <- app_assoc; reflexivity|auto|].
          assert (Jw : In w (k1 ++ w' :: p)).
          { destruct Lw as (a1 & a2 & Eq & _). rewrite Ec, Eq. apply in_or_app. left. apply in_or_app. simpl. auto. }
          exists w. split; [auto|]. split; [exact Rw|]. split; [|auto].
          apply Mo; auto; [eapply rf_write; eauto|]. rewrite (rf_loc X WF _ _ Rw). exact Lf. }
      assert (Old : forall f, In f (w' :: p) -> In f (w' :: p ++ [b])) by (intros f [I|I]; [left; auto|right; apply in_or_app; auto]).
      assert (New : In b (w' :: p ++ [b])) by (right; apply in_or_app; simpl; auto).
      split; rewrite bits_snoc; unfold bit_step; cbn [reached read_on home heard written_on].
      + intros t [R|[-> R]].
        * destruct (Ir _ R) as (f & A & B). exists f. split; [auto|exact B].
        * destruct (On R). exists b. auto.
      + intros t [R|[-> [R Rb]]].
        * destruct (Id _ R) as (f & A & B). exists f. split; [auto|exact B].
        * destruct (On R). exists b. auto.
      + intros t [R|[-> [A L]]].
        * destruct (Ih _ R) as (f & C & B). exists f. split; [auto|exact B].
        * exists b. auto.
      + intros y [R|[-> R]].
        * destruct (Ia _ R) as (f & A & B). exists f. split; [auto|exact B].
        * destruct (On R). exists b. auto.
      + assert (Wr : forall y, isW b /\ loc b = y -> on (bits p) b ->
          exists w, last_write (k1 ++ w' :: p ++ [b]) y w /\ ghb H w' w /\ (reached (bits p) (tid X w) \/ (tid X w = tid X b /\ on (bits p) b))).
        { intros y [Wb L] O. destruct (On O) as [_ G]. exists b. split; [|auto].
          exists (k1 ++ w' :: p), []. split; [rewrite <- app_assoc; reflexivity|]. repeat split; auto. }
        intros y [R|[-> [R Wb]]].
        * destruct (Iw _ R) as (Hy & w & Lw & Gw & Rw). split; [auto|].
          destruct (classic (isW b /\ loc b = y)) as [[Wb L]|N].
          -- apply Wr; auto. right. right. right. split; auto. now rewrite L.
          -- exists w. split; [|auto]. destruct Lw as (a1 & a2 & Eq & Ww & Lw & Nw). exists a1, (a2 ++ [b]).
             split; [rewrite app_comm_cons, app_assoc, Eq, <- app_assoc; reflexivity|]. split; auto. split; auto.
             intros v Iv Wv Lv. apply in_app_or in Iv. destruct Iv as [Iv|[<-|[]]]; [eapply Nw; eauto|]. apply N. auto.
        * split; auto.
  Qed.

  (** * The rules follow the bits *)

  Definition sees (p : list E) (t : thread) (m : mark) : Prop :=
    (is_reached m = true <-> reached (bits p) t) /\ (by_read m = true <-> read_on (bits p) t) /\ (at_home m = true -> home (bits p) t).
  Definition tells (p : list E) (x : location) (s : message) : Prop :=
    (is_heard s = true <-> heard (bits p) x) /\ (is_written s = true <-> written_on (bits p) x) /\ (s = Overlooked <-> x = x0).

  Lemma follows_on_spec p b rd wr m s : (isR b \/ isW b) -> (rd = true <-> isR b) -> (wr = true <-> isW b) ->
    sees p (tid X b) m -> tells p (loc b) s -> (follows_on rd wr m s = true <-> on (bits p) b).
  Proof.
    intros A Er Ew (S1 & S2 & _) (T1 & T2 & _). unfold follows_on, on.
    rewrite !orb_true_iff, !andb_true_iff, negb_true_iff, <- not_true_iff_false. tauto.
  Qed.

  Lemma reached_mark_spec rd wr m s : let m' := reached_mark rd wr m s in let o := follows_on rd wr m s in
    (is_reached m' = is_reached m || o) /\ (by_read m' = by_read m || (o && rd)) /\ (at_home m' = true -> at_home m = true \/ at_guess s = true) /\
    m' <> Apart.
  Proof. cbn zeta. unfold reached_mark. destruct (follows_on rd wr m s), m, rd, s; cbn; repeat split; auto; discriminate. Qed.

  Lemma reached_message_spec rd wr m s : let s' := reached_message rd wr m s in let o := follows_on rd wr m s in
    (wr = true -> is_heard s = true -> o = true) ->
    (is_heard s' = is_heard s || o) /\ (is_written s' = is_written s || (o && wr)) /\ (s' = Overlooked <-> s = Overlooked).
  Proof.
    cbn zeta. intros Q. unfold reached_message. destruct (follows_on rd wr m s) eqn:O, s, wr; cbn in *; repeat split; auto; try discriminate;
      try (specialize (Q eq_refl eq_refl); discriminate).
  Qed.

  Hypothesis Not_home : ~ home (bits k2) (tid X e).
  Hypothesis Not_read : ~ read_on (bits k2) (tid X e).
  Hypothesis Not_reached : isW e -> ~ reached (bits k2) (tid X e).

  Theorem tso_sound_rules : sound_rules tso_rules E X k2 w' e sees tells.
  Proof.
    split.
    - intros t D. unfold sees, bits. simpl. split; [|split]; try (split; intros; try discriminate; try contradiction; tauto). discriminate.
    - intros u Eu. unfold sees, bits. simpl. destruct u; simpl; (split; [|discriminate]).
      + split; [split; auto|]. split; [|discriminate]. split; auto. intros _. split; auto. now apply Eu.
      + split; [split; auto|]. split; [|auto]. split; [discriminate|]. intros [_ R]. apply Eu in R. discriminate.
    - intros x. unfold tells, bits. simpl. destruct (Pos.eqb_spec x x0); simpl; repeat split; auto; try discriminate; try contradiction; congruence.
    - intros p x s _. destruct s; simpl; auto.
    - intros p s (_ & _ & A). now apply A.
    - intros p b q fa fr m _ Nb _ _ Nm (S1 & S2 & S3). split; [|exact Nm]. unfold sees. rewrite bits_snoc. unfold bit_step.
      cbn [reached read_on home heard written_on fence_mark tso_rules].
      assert (No : ~ on (bits p) b). { unfold Runs.accesses in Nb. unfold on. intros O. apply Nb. destruct O as [[O _]|[[O _]|[[O _]|[O _]]]]; auto. }
      split; [|split]; tauto.
    - intros p b q rd wr ac re m s _ Ab Er Ew _ _ Sm Tm. cbn [access_mark passing tso_rules].
      assert (O := follows_on_spec p b rd wr m s Ab Er Ew Sm Tm). destruct Sm as (S1 & S2 & S3), Tm as (T1 & T2 & T3).
      destruct (reached_mark_spec rd wr m s) as (M1 & M2 & M3 & M4). destruct (reached_message_spec rd wr m s) as (N1 & N2 & N3).
      { intros -> Hs. apply O. right. right. right. split; [now apply Ew|now apply T1]. }
      split; [|split; [exact M4|]].
      + unfold sees. rewrite bits_snoc. unfold bit_step. cbn [reached read_on home heard written_on]. rewrite M1, M2.
        rewrite !orb_true_iff, andb_true_iff, O, S1, S2, Er. split; [tauto|]. split; [tauto|].
        intros Hm. apply M3 in Hm. destruct Hm as [Hm|Hs]; [left; auto|right]. split; auto. split; [exact Ab|].
        apply T3. destruct s; try discriminate; reflexivity.
      + unfold tells. rewrite bits_snoc. unfold bit_step. cbn [reached read_on home heard written_on]. rewrite N1, N2, N3.
        rewrite !orb_true_iff, andb_true_iff, O, T1, T2, Ew. tauto.
    - intros p b q t m _ D (S1 & S2 & S3). unfold sees. rewrite bits_snoc. unfold bit_step. cbn [reached read_on home heard written_on].
      tauto.
    - intros p b q x s _ D (T1 & T2 & T3). unfold tells. rewrite bits_snoc. unfold bit_step. cbn [reached read_on home heard written_on].
      assert (No : ~ (x = loc b /\ on (bits p) b)).
      { intros [Q O]. destruct D as [D|D]; [contradiction|]. apply D. unfold on in O. unfold Runs.accesses. 
        destruct O as [[O _]|[[O _]|[[O _]|[O _]]]]; [exact O|right; exact O|left; exact O|right; exact O]. }
      tauto.
    - intros m wr Hw Nm (S1 & S2 & S3). cbn. destruct m; [congruence| | | |].
      + destruct wr; simpl; auto.
      + destruct wr; [|simpl; auto]. destruct (Not_reached (Hw eq_refl)). now apply S1.
      + destruct Not_read. now apply S2.
      + destruct Not_home. now apply S3.
  Qed.
End Sound.

(** * Robustness against x86-TSO, end to end *)

Theorem uncoverable_TSO_robust P : check_program P = true -> ~ coverable (net_of tso_rules P) -> TSO_robust P.
Proof.
  intros C U threads Inst E X l WF G Cs. apply NNPP. intros N. apply U.
  set (step := tso E (po X) (rf X) (mo X) (ppo X) (poloc X)) in *.
  destruct (violation_complete' E (po X) (rf X) (mo X) (writes X) (mo_write X WF) (mo_trans X WF) (mo_irr X WF) (rf_fun X WF)
    location (place_of X) (mo_loc X WF) (rf_loc X WF) (mo_total X WF) bool step) with (l := l)
    as (l1 & e & l2 & w' & f & El & Hsc & Fr & Out & At & Fw & Hf & Rf & Pf & Kn); auto.
  { apply tso_sc; [intros a b [P1 _]; exact P1|intros a b [P1 _]; exact P1]. }
  { apply tso_mono. }
  { apply tso_mofr. }
  { apply tso_prefix. }
  { apply G. }
  destruct (last_event_opens thread location value (behaviour P threads) E (tid X) (lab X) (po X) (rf X) (mo X)
    (po_tid X WF) (po_total X WF) (rf_write X WF) (rf_loc X WF) (rf_val X WF) (rf_fun X WF) (mo_write X WF) (mo_loc X WF) (mo_trans X WF)
    (mo_irr X WF) (mo_total X WF) thread_dec (rf_read X WF) l l1 e l2 w' f G El Hsc Fr Out At Fw Hf Rf Pf)
    as (k1 & k2 & (Run & Ww & Le & J & Pr & Jo & St & Nu) & Pk & Fs & ND & Ov & Sta).
  assert (Ae : reads X e \/ writes X e).
  { destruct Ov as [M|(w & R' & _)]; [right; now destruct (mo_write X WF _ _ M)|left; exact (rf_read X WF _ _ R')]. }
  set (k := k1 ++ w' :: k2) in *.
  assert (Ink : forall x, events E k x -> events E l1 x) by (intros x I; exact (Permutation_in _ (Permutation_sym Pk) I)).
  assert (Rd : forall p b q, k = p ++ b :: q -> reads X b -> exists w, Runs.last_write location value E (lab X) p (place_of X b) w /\ rf X w b).
  { intros p b q Eq Rb. destruct (Run p b q Eq) as [_ R]. destruct (R Rb) as (w & Lw & Rw & _). eauto. }
  assert (Mn := bits_mean E X WF k1 k2 w' Ww ND Fs Rd k2 [] ltac:(now rewrite app_nil_r)).
  set (H := events E l1) in *. set (Ge := LastEvent.G E H e) in *.
  assert (In2 : forall g, In g (w' :: k2) -> H g) by (intros g I; apply Ink; unfold events, k; apply in_or_app; auto).
  assert (Po : forall g, H g -> tid X g = tid X e -> po X g e).
  { intros g Hg T. destruct (po_total X WF g e T) as [->|[Q|Q]]; auto; [contradiction|].
    destruct (Out g) as [Q' _]; [left; auto|contradiction]. }
  assert (Up : forall g, clos_refl_trans E (step true (events E k)) w' g -> w' = g \/ clos_trans E (step true Ge) w' g).
  { assert (One : forall a b, step true (events E k) a b -> step true Ge a b).
    { intros a b. apply tso_mono. intros z Hz. left. exact (Ink z Hz). }
    intros g R. apply rt_t in R. destruct R as [|R]; auto. right. clear - R One. clearbody k.
    induction R as [a b S|a b c _ I1 _ I2]; [apply t_step; auto|exact (t_trans _ _ _ _ _ I1 I2)]. }
  assert (Bw : LastEvent.behind E (rf X) (mo X) H e w') by apply Fw.
  assert (Last : forall g, H g -> clos_refl_trans E (step true (events E k)) w' g -> ppo X g e -> False).
  { intros g Hg R Pp. apply (Kn true w' Bw). assert (S : step true Ge g e) by (split; [left; auto|split; [right; auto|left; exact Pp]]).
    destruct (Up g R) as [Q|T]; [rewrite <- Q in S; exact (t_step _ _ _ _ S)|]. exact (t_trans _ _ _ _ _ T (t_step _ _ _ _ S)). }
  eapply (follows tso_rules ltac:(reflexivity) P C threads Inst E X WF k1 k2 w' e); eauto.
  apply tso_sound_rules; auto.
  - intros Hm. destruct (n_home _ _ _ _ _ _ Mn _ Hm) as (g & Ig & Tg & Ag & Lg). assert (Hg := In2 g Ig).
    assert (S : step false Ge g e).
    { split; [left; auto|]. split; [right; auto|]. left. split; [auto|]. split; [rewrite Lg; symmetry; exact Le|]. auto. }
    destruct (Sta g Ig Ag Lg) as [B|(w & B & _ & R)].
    + apply (Kn false g B). now apply t_step.
    + apply (Kn false w B). apply t_trans with g; [|now apply t_step]. apply t_step. split; [left; apply B|]. split; [left; auto|]. right. left. exact R.
  - intros Hr. destruct (n_read _ _ _ _ _ _ Mn _ Hr) as (g & Ig & Tg & Rg & Gg). apply (Last g); auto. split; auto.
  - intros We Hr. destruct (n_reached _ _ _ _ _ _ Mn _ Hr) as (g & Ig & Tg & Ag & Gg). apply (Last g); auto. split; auto. destruct Ag; auto.
Qed.

Corollary downward_TSO_robust P set hint :
  check_program P = true -> check_downward (net_of tso_rules P) set hint = true -> TSO_robust P.
Proof. eauto using uncoverable_TSO_robust, check_downward_sound. Qed.

Corollary separator_TSO_robust P siphon rs :
  check_program P = true -> check_separator (net_of tso_rules P) siphon rs = true -> TSO_robust P.
Proof. eauto using uncoverable_TSO_robust, check_separator_sound. Qed.

Corollary upward_TSO_robust P siphon rs basis hint :
  check_program P = true -> check_upward (net_of tso_rules P) siphon rs basis hint = true -> TSO_robust P.
Proof. eauto using uncoverable_TSO_robust, check_upward_sound. Qed.
