
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> nat **)

let rec length = function
| [] -> O
| _ :: l' -> S (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

module Coq__1 = struct
 (** val add : nat -> nat -> nat **)
 let rec add n0 m =
   match n0 with
   | O -> m
   | S p -> S (add p m)
end
include Coq__1

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module type EqLtLe =
 sig
  type t
 end

module MakeOrderTac =
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 struct
 end

module Nat =
 struct
  (** val eqb : nat -> nat -> bool **)

  let rec eqb n0 m =
    match n0 with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n' -> (match m with
               | O -> false
               | S m' -> eqb n' m')

  (** val leb : nat -> nat -> bool **)

  let rec leb n0 m =
    match n0 with
    | O -> true
    | S n' -> (match m with
               | O -> false
               | S m' -> leb n' m')

  (** val ltb : nat -> nat -> bool **)

  let ltb n0 m =
    leb (S n0) m

  (** val eq_dec : nat -> nat -> bool **)

  let rec eq_dec n0 m =
    match n0 with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n1 -> (match m with
               | O -> false
               | S n2 -> eq_dec n1 n2)
 end

(** val nth_error : 'a1 list -> nat -> 'a1 option **)

let rec nth_error l = function
| O -> (match l with
        | [] -> None
        | x :: _ -> Some x)
| S n1 -> (match l with
           | [] -> None
           | _ :: l0 -> nth_error l0 n1)

(** val rev_append : 'a1 list -> 'a1 list -> 'a1 list **)

let rec rev_append l l' =
  match l with
  | [] -> l'
  | a :: l0 -> rev_append l0 (a :: l')

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val seq : nat -> nat -> nat list **)

let rec seq start0 = function
| O -> []
| S len0 -> start0 :: (seq (S start0) len0)

type 'x compare =
| LT
| EQ
| GT

module type OrderedType =
 sig
  type t

  val compare : t -> t -> t compare

  val eq_dec : t -> t -> bool
 end

module OrderedTypeFacts =
 functor (O:OrderedType) ->
 struct
  module TO =
   struct
    type t = O.t
   end

  module IsTO =
   struct
   end

  module OrderTac = MakeOrderTac(TO)(IsTO)

  (** val eq_dec : O.t -> O.t -> bool **)

  let eq_dec =
    O.eq_dec

  (** val lt_dec : O.t -> O.t -> bool **)

  let lt_dec x y =
    match O.compare x y with
    | LT -> true
    | _ -> false

  (** val eqb : O.t -> O.t -> bool **)

  let eqb x y =
    if eq_dec x y then true else false
 end

module KeyOrderedType =
 functor (O:OrderedType) ->
 struct
  module MO = OrderedTypeFacts(O)
 end

type positive =
| XI of positive
| XO of positive
| XH

type n =
| N0
| Npos of positive

type z =
| Z0
| Zpos of positive
| Zneg of positive

module Pos =
 struct
  type mask =
  | IsNul
  | IsPos of positive
  | IsNeg
 end

module Coq_Pos =
 struct
  (** val succ : positive -> positive **)

  let rec succ = function
  | XI p -> XO (succ p)
  | XO p -> XI p
  | XH -> XO XH

  (** val add : positive -> positive -> positive **)

  let rec add x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XO p ->
      (match y with
       | XI q -> XI (add p q)
       | XO q -> XO (add p q)
       | XH -> XI p)
    | XH -> (match y with
             | XI q -> XO (succ q)
             | XO q -> XI q
             | XH -> XO XH)

  (** val add_carry : positive -> positive -> positive **)

  and add_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XI (add_carry p q)
       | XO q -> XO (add_carry p q)
       | XH -> XI (succ p))
    | XO p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XH ->
      (match y with
       | XI q -> XI (succ q)
       | XO q -> XO (succ q)
       | XH -> XI XH)

  (** val pred_double : positive -> positive **)

  let rec pred_double = function
  | XI p -> XI (XO p)
  | XO p -> XI (pred_double p)
  | XH -> XH

  type mask = Pos.mask =
  | IsNul
  | IsPos of positive
  | IsNeg

  (** val succ_double_mask : mask -> mask **)

  let succ_double_mask = function
  | IsNul -> IsPos XH
  | IsPos p -> IsPos (XI p)
  | IsNeg -> IsNeg

  (** val double_mask : mask -> mask **)

  let double_mask = function
  | IsPos p -> IsPos (XO p)
  | x0 -> x0

  (** val double_pred_mask : positive -> mask **)

  let double_pred_mask = function
  | XI p -> IsPos (XO (XO p))
  | XO p -> IsPos (XO (pred_double p))
  | XH -> IsNul

  (** val sub_mask : positive -> positive -> mask **)

  let rec sub_mask x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double_mask (sub_mask p q)
       | XO q -> succ_double_mask (sub_mask p q)
       | XH -> IsPos (XO p))
    | XO p ->
      (match y with
       | XI q -> succ_double_mask (sub_mask_carry p q)
       | XO q -> double_mask (sub_mask p q)
       | XH -> IsPos (pred_double p))
    | XH -> (match y with
             | XH -> IsNul
             | _ -> IsNeg)

  (** val sub_mask_carry : positive -> positive -> mask **)

  and sub_mask_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> succ_double_mask (sub_mask_carry p q)
       | XO q -> double_mask (sub_mask p q)
       | XH -> IsPos (pred_double p))
    | XO p ->
      (match y with
       | XI q -> double_mask (sub_mask_carry p q)
       | XO q -> succ_double_mask (sub_mask_carry p q)
       | XH -> double_pred_mask p)
    | XH -> IsNeg

  (** val mul : positive -> positive -> positive **)

  let rec mul x y =
    match x with
    | XI p -> add y (XO (mul p y))
    | XO p -> XO (mul p y)
    | XH -> y

  (** val compare_cont : comparison -> positive -> positive -> comparison **)

  let rec compare_cont r x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> compare_cont r p q
       | XO q -> compare_cont Gt p q
       | XH -> Gt)
    | XO p ->
      (match y with
       | XI q -> compare_cont Lt p q
       | XO q -> compare_cont r p q
       | XH -> Gt)
    | XH -> (match y with
             | XH -> r
             | _ -> Lt)

  (** val compare : positive -> positive -> comparison **)

  let compare =
    compare_cont Eq

  (** val eqb : positive -> positive -> bool **)

  let rec eqb p q =
    match p with
    | XI p0 -> (match q with
                | XI q0 -> eqb p0 q0
                | _ -> false)
    | XO p0 -> (match q with
                | XO q0 -> eqb p0 q0
                | _ -> false)
    | XH -> (match q with
             | XH -> true
             | _ -> false)

  (** val eq_dec : positive -> positive -> bool **)

  let rec eq_dec p x0 =
    match p with
    | XI p0 -> (match x0 with
                | XI p1 -> eq_dec p0 p1
                | _ -> false)
    | XO p0 -> (match x0 with
                | XO p1 -> eq_dec p0 p1
                | _ -> false)
    | XH -> (match x0 with
             | XH -> true
             | _ -> false)
 end

module N =
 struct
  (** val add : n -> n -> n **)

  let add n0 m =
    match n0 with
    | N0 -> m
    | Npos p -> (match m with
                 | N0 -> n0
                 | Npos q -> Npos (Coq_Pos.add p q))

  (** val sub : n -> n -> n **)

  let sub n0 m =
    match n0 with
    | N0 -> N0
    | Npos n' ->
      (match m with
       | N0 -> n0
       | Npos m' ->
         (match Coq_Pos.sub_mask n' m' with
          | Coq_Pos.IsPos p -> Npos p
          | _ -> N0))

  (** val mul : n -> n -> n **)

  let mul n0 m =
    match n0 with
    | N0 -> N0
    | Npos p -> (match m with
                 | N0 -> N0
                 | Npos q -> Npos (Coq_Pos.mul p q))

  (** val compare : n -> n -> comparison **)

  let compare n0 m =
    match n0 with
    | N0 -> (match m with
             | N0 -> Eq
             | Npos _ -> Lt)
    | Npos n' -> (match m with
                  | N0 -> Gt
                  | Npos m' -> Coq_Pos.compare n' m')

  (** val eqb : n -> n -> bool **)

  let eqb n0 m =
    match n0 with
    | N0 -> (match m with
             | N0 -> true
             | Npos _ -> false)
    | Npos p -> (match m with
                 | N0 -> false
                 | Npos q -> Coq_Pos.eqb p q)

  (** val leb : n -> n -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : n -> n -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false
 end

module Z =
 struct
  (** val double : z -> z **)

  let double = function
  | Z0 -> Z0
  | Zpos p -> Zpos (XO p)
  | Zneg p -> Zneg (XO p)

  (** val succ_double : z -> z **)

  let succ_double = function
  | Z0 -> Zpos XH
  | Zpos p -> Zpos (XI p)
  | Zneg p -> Zneg (Coq_Pos.pred_double p)

  (** val pred_double : z -> z **)

  let pred_double = function
  | Z0 -> Zneg XH
  | Zpos p -> Zpos (Coq_Pos.pred_double p)
  | Zneg p -> Zneg (XI p)

  (** val pos_sub : positive -> positive -> z **)

  let rec pos_sub x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double (pos_sub p q)
       | XO q -> succ_double (pos_sub p q)
       | XH -> Zpos (XO p))
    | XO p ->
      (match y with
       | XI q -> pred_double (pos_sub p q)
       | XO q -> double (pos_sub p q)
       | XH -> Zpos (Coq_Pos.pred_double p))
    | XH ->
      (match y with
       | XI q -> Zneg (XO q)
       | XO q -> Zneg (Coq_Pos.pred_double q)
       | XH -> Z0)

  (** val add : z -> z -> z **)

  let add x y =
    match x with
    | Z0 -> y
    | Zpos x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> Zpos (Coq_Pos.add x' y')
       | Zneg y' -> pos_sub x' y')
    | Zneg x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> pos_sub y' x'
       | Zneg y' -> Zneg (Coq_Pos.add x' y'))

  (** val opp : z -> z **)

  let opp = function
  | Z0 -> Z0
  | Zpos x0 -> Zneg x0
  | Zneg x0 -> Zpos x0

  (** val sub : z -> z -> z **)

  let sub m n0 =
    add m (opp n0)

  (** val mul : z -> z -> z **)

  let mul x y =
    match x with
    | Z0 -> Z0
    | Zpos x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zpos (Coq_Pos.mul x' y')
       | Zneg y' -> Zneg (Coq_Pos.mul x' y'))
    | Zneg x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zneg (Coq_Pos.mul x' y')
       | Zneg y' -> Zpos (Coq_Pos.mul x' y'))

  (** val compare : z -> z -> comparison **)

  let compare x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> Eq
             | Zpos _ -> Lt
             | Zneg _ -> Gt)
    | Zpos x' -> (match y with
                  | Zpos y' -> Coq_Pos.compare x' y'
                  | _ -> Gt)
    | Zneg x' ->
      (match y with
       | Zneg y' -> compOpp (Coq_Pos.compare x' y')
       | _ -> Lt)

  (** val leb : z -> z -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : z -> z -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false

  (** val max : z -> z -> z **)

  let max n0 m =
    match compare n0 m with
    | Lt -> m
    | _ -> n0

  (** val to_N : z -> n **)

  let to_N = function
  | Zpos p -> Npos p
  | _ -> N0

  (** val of_N : n -> z **)

  let of_N = function
  | N0 -> Z0
  | Npos p -> Zpos p
 end

module PositiveOrderedTypeBits =
 struct
  type t = positive

  (** val compare : t -> t -> positive compare **)

  let rec compare p y =
    match p with
    | XI p0 -> (match y with
                | XI p1 -> compare p0 p1
                | _ -> GT)
    | XO p0 -> (match y with
                | XO p1 -> compare p0 p1
                | _ -> LT)
    | XH -> (match y with
             | XI _ -> LT
             | XO _ -> GT
             | XH -> EQ)

  (** val eq_dec : positive -> positive -> bool **)

  let eq_dec x y =
    match Coq_Pos.compare x y with
    | Eq -> true
    | _ -> false
 end

(** val append : positive -> positive -> positive **)

let rec append i j =
  match i with
  | XI ii -> XI (append ii j)
  | XO ii -> XO (append ii j)
  | XH -> j

module PositiveMap =
 struct
  module E = PositiveOrderedTypeBits

  module ME = KeyOrderedType(E)

  type key = positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  (** val empty : 'a1 t **)

  let empty =
    Leaf

  (** val is_empty : 'a1 t -> bool **)

  let rec is_empty = function
  | Leaf -> true
  | Node (l, o, r) ->
    (match o with
     | Some _ -> false
     | None -> (&&) (is_empty l) (is_empty r))

  (** val find : key -> 'a1 t -> 'a1 option **)

  let rec find i = function
  | Leaf -> None
  | Node (l, o, r) ->
    (match i with
     | XI ii -> find ii r
     | XO ii -> find ii l
     | XH -> o)

  (** val mem : key -> 'a1 t -> bool **)

  let rec mem i = function
  | Leaf -> false
  | Node (l, o, r) ->
    (match i with
     | XI ii -> mem ii r
     | XO ii -> mem ii l
     | XH -> (match o with
              | Some _ -> true
              | None -> false))

  (** val add : key -> 'a1 -> 'a1 t -> 'a1 t **)

  let rec add i v = function
  | Leaf ->
    (match i with
     | XI ii -> Node (Leaf, None, (add ii v Leaf))
     | XO ii -> Node ((add ii v Leaf), None, Leaf)
     | XH -> Node (Leaf, (Some v), Leaf))
  | Node (l, o, r) ->
    (match i with
     | XI ii -> Node (l, o, (add ii v r))
     | XO ii -> Node ((add ii v l), o, r)
     | XH -> Node (l, (Some v), r))

  (** val remove : key -> 'a1 t -> 'a1 t **)

  let rec remove i m =
    match i with
    | XI ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match l with
          | Leaf ->
            (match o with
             | Some _ -> Node (l, o, (remove ii r))
             | None ->
               (match remove ii r with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node (Leaf, None, (Node (t0, o0, t1)))))
          | Node (_, _, _) -> Node (l, o, (remove ii r))))
    | XO ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match o with
          | Some _ -> Node ((remove ii l), o, r)
          | None ->
            (match r with
             | Leaf ->
               (match remove ii l with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node ((Node (t0, o0, t1)), None, Leaf))
             | Node (_, _, _) -> Node ((remove ii l), o, r))))
    | XH ->
      (match m with
       | Leaf -> Leaf
       | Node (l, _, r) ->
         (match l with
          | Leaf ->
            (match r with
             | Leaf -> Leaf
             | Node (_, _, _) -> Node (l, None, r))
          | Node (_, _, _) -> Node (l, None, r)))

  (** val xelements : 'a1 t -> key -> (key * 'a1) list **)

  let rec xelements m i =
    match m with
    | Leaf -> []
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         app (xelements l (append i (XO XH))) ((i,
           x) :: (xelements r (append i (XI XH))))
       | None ->
         app (xelements l (append i (XO XH))) (xelements r (append i (XI XH))))

  (** val elements : 'a1 t -> (key * 'a1) list **)

  let elements m =
    xelements m XH

  (** val cardinal : 'a1 t -> nat **)

  let rec cardinal = function
  | Leaf -> O
  | Node (l, o, r) ->
    (match o with
     | Some _ -> S (Coq__1.add (cardinal l) (cardinal r))
     | None -> Coq__1.add (cardinal l) (cardinal r))

  (** val xfind : key -> key -> 'a1 t -> 'a1 option **)

  let rec xfind i j m =
    match i with
    | XI ii ->
      (match j with
       | XI jj -> xfind ii jj m
       | XO _ -> None
       | XH -> find i m)
    | XO ii ->
      (match j with
       | XI _ -> None
       | XO jj -> xfind ii jj m
       | XH -> find i m)
    | XH -> (match j with
             | XH -> find i m
             | _ -> None)

  (** val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t **)

  let rec xmapi f m i =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      Node ((xmapi f l (append i (XO XH))), (option_map (f i) o),
        (xmapi f r (append i (XI XH))))

  (** val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let mapi f m =
    xmapi f m XH

  (** val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let map f m =
    mapi (fun _ -> f) m

  (** val xmap2_l :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t **)

  let rec xmap2_l f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_l f l), (f o None), (xmap2_l f r))

  (** val xmap2_r :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t **)

  let rec xmap2_r f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_r f l), (f None o), (xmap2_r f r))

  (** val _map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let rec _map2 f m1 m2 =
    match m1 with
    | Leaf -> xmap2_r f m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> xmap2_l f m1
       | Node (l2, o2, r2) ->
         Node ((_map2 f l1 l2), (f o1 o2), (_map2 f r1 r2)))

  (** val map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let map2 f =
    _map2 (fun o1 o2 ->
      match o1 with
      | Some _ -> f o1 o2
      | None -> (match o2 with
                 | Some _ -> f o1 o2
                 | None -> None))

  (** val xfoldi :
      (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2 **)

  let rec xfoldi f m v i =
    match m with
    | Leaf -> v
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         xfoldi f r (f i x (xfoldi f l v (append i (XO XH))))
           (append i (XI XH))
       | None ->
         xfoldi f r (xfoldi f l v (append i (XO XH))) (append i (XI XH)))

  (** val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2 **)

  let fold f m i =
    xfoldi f m i XH

  (** val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool **)

  let rec equal cmp m1 m2 =
    match m1 with
    | Leaf -> is_empty m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> is_empty m1
       | Node (l2, o2, r2) ->
         (&&)
           ((&&)
             (match o1 with
              | Some v1 ->
                (match o2 with
                 | Some v2 -> cmp v1 v2
                 | None -> false)
              | None -> (match o2 with
                         | Some _ -> false
                         | None -> true)) (equal cmp l1 l2)) (equal cmp r1 r2))
 end

module M = PositiveMap

type place = positive

type vec = (place * n) list

type marking = place -> n

type count =
| Fin of n
| Omega

type transition = { pre : vec; post : vec }

type problem = { transitions : transition list; initially : count M.t;
                 targets : vec list }

(** val oget : count M.t -> place -> count **)

let oget m p =
  match M.find p m with
  | Some c -> c
  | None -> Fin N0

(** val images : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let images f l =
  rev_append (fold_left (fun acc x -> (f x) :: acc) l []) []

(** val collect : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let collect f l =
  rev_append (fold_left (fun acc x -> rev_append (f x) acc) l []) []

(** val number : 'a1 list -> 'a1 M.t **)

let number l =
  snd
    (fold_left (fun pat x ->
      let (i, m) = pat in ((Coq_Pos.succ i), (M.add i x m))) l (XH, M.empty))

(** val number_some : unit M.t -> 'a1 list -> 'a1 M.t **)

let number_some wanted l =
  snd
    (fold_left (fun pat x ->
      let (i, m) = pat in
      ((Coq_Pos.succ i),
      (match M.find i wanted with
       | Some _ -> M.add i x m
       | None -> m))) l (XH, M.empty))

(** val unwind : positive -> positive -> positive **)

let rec unwind path p =
  match path with
  | XI path' -> unwind path' (XI p)
  | XO path' -> unwind path' (XO p)
  | XH -> p

(** val entries_at :
    (positive -> 'a1 -> bool) -> positive -> 'a1 M.t -> bool **)

let rec entries_at f path = function
| M.Leaf -> true
| M.Node (l, o, r) ->
  if entries_at f (XO path) l
  then if match o with
          | Some x -> f (unwind path XH) x
          | None -> true
       then entries_at f (XI path) r
       else false
  else false

(** val entries : (positive -> 'a1 -> bool) -> 'a1 M.t -> bool **)

let entries f m =
  entries_at f XH m

(** val den : n M.t -> marking **)

let den m p =
  match M.find p m with
  | Some n0 -> n0
  | None -> N0

(** val nval : n option -> n **)

let nval = function
| Some n0 -> n0
| None -> N0

(** val plus : vec -> n M.t -> n M.t **)

let rec plus v m =
  match v with
  | [] -> m
  | p0 :: v' -> let (p, n0) = p0 in plus v' (M.add p (N.add (den m p) n0) m)

(** val minus : vec -> n M.t -> n M.t **)

let rec minus v m =
  match v with
  | [] -> m
  | p0 :: v' -> let (p, n0) = p0 in minus v' (M.add p (N.sub (den m p) n0) m)

(** val sums : vec -> n M.t **)

let sums v =
  plus v M.empty

(** val mle : n M.t -> n M.t -> bool **)

let rec mle a b =
  match a with
  | M.Leaf -> true
  | M.Node (l, o, r) ->
    (match b with
     | M.Leaf -> (&&) (N.eqb (nval o) N0) ((&&) (mle l M.Leaf) (mle r M.Leaf))
     | M.Node (l', o', r') ->
       (&&) (N.leb (nval o) (nval o')) ((&&) (mle l l') (mle r r')))

(** val ole : count -> count -> bool **)

let ole a b =
  match a with
  | Fin x -> (match b with
              | Fin y -> N.leb x y
              | Omega -> true)
  | Omega -> (match b with
              | Fin _ -> false
              | Omega -> true)

(** val oval : count option -> count **)

let oval = function
| Some c -> c
| None -> Fin N0

(** val leq : count M.t -> count M.t -> bool **)

let rec leq a b =
  match a with
  | M.Leaf -> true
  | M.Node (l, o, r) ->
    (match b with
     | M.Leaf ->
       (&&) (ole (oval o) (Fin N0)) ((&&) (leq l M.Leaf) (leq r M.Leaf))
     | M.Node (l', o', r') ->
       (&&) (ole (oval o) (oval o')) ((&&) (leq l l') (leq r r')))

(** val osub : count -> n -> count **)

let osub c n0 =
  match c with
  | Fin x -> Fin (N.sub x n0)
  | Omega -> Omega

(** val oadd : count -> n -> count **)

let oadd c n0 =
  match c with
  | Fin x -> Fin (N.add x n0)
  | Omega -> Omega

(** val take : vec -> count M.t -> count M.t **)

let rec take v w =
  match v with
  | [] -> w
  | p0 :: v' -> let (p, n0) = p0 in take v' (M.add p (osub (oget w p) n0) w)

(** val put : vec -> count M.t -> count M.t **)

let rec put v w =
  match v with
  | [] -> w
  | p0 :: v' -> let (p, n0) = p0 in put v' (M.add p (oadd (oget w p) n0) w)

(** val successor : count M.t -> transition -> count M.t **)

let successor w t0 =
  put t0.post (take t0.pre w)

(** val enough : count M.t -> vec -> bool **)

let enough w v =
  forallb (fun pat ->
    let (p, n0) = pat in
    (match oget w p with
     | Fin x -> N.leb n0 x
     | Omega -> true)) v

type prepared = { made_of : transition; rises : place list }

(** val prepare : transition -> prepared **)

let prepare t0 =
  { made_of = t0; rises =
    (let taken = sums t0.pre in
     let left = sums t0.post in
     fold_left (fun l pat ->
       let (p, _) = pat in
       if N.leb (den left p) (den taken p) then l else p :: l) t0.post []) }

(** val key0 : transition -> place option **)

let key0 t0 =
  match t0.pre with
  | [] -> None
  | p0 :: _ ->
    let (p, n0) = p0 in (match n0 with
                         | N0 -> None
                         | Npos _ -> Some p)

type index = { keyed : prepared list M.t; unkeyed : prepared list }

(** val bucket : index -> place -> prepared list **)

let bucket ix p =
  match M.find p ix.keyed with
  | Some l -> l
  | None -> []

(** val insert : index -> transition -> index **)

let insert ix t0 =
  match key0 t0 with
  | Some p ->
    { keyed = (M.add p ((prepare t0) :: (bucket ix p)) ix.keyed); unkeyed =
      ix.unkeyed }
  | None -> { keyed = ix.keyed; unkeyed = ((prepare t0) :: ix.unkeyed) }

(** val index_of : transition list -> index **)

let index_of l =
  fold_left insert l { keyed = M.empty; unkeyed = [] }

(** val forall_enabled : index -> count M.t -> (prepared -> bool) -> bool **)

let forall_enabled ix w p =
  let test0 = fun t0 -> if enough w t0.made_of.pre then p t0 else true in
  (&&) (forallb test0 ix.unkeyed)
    (entries (fun p0 _ -> forallb test0 (bucket ix p0)) w)

(** val inside :
    (count M.t -> positive option) -> count M.t M.t -> count M.t -> bool **)

let inside hint numbered w =
  match hint w with
  | Some i -> (match M.find i numbered with
               | Some u -> leq w u
               | None -> false)
  | None -> false

(** val stays : count M.t -> prepared -> bool **)

let stays w t0 =
  forallb (fun p -> match oget w p with
                    | Fin _ -> false
                    | Omega -> true) t0.rises

(** val check_downward :
    problem -> count M.t list -> (count M.t -> positive option) -> bool **)

let check_downward pb set hint =
  let ix = index_of pb.transitions in
  let numbered = number set in
  (&&) (inside hint numbered pb.initially)
    (forallb (fun w ->
      (&&) (forallb (fun g -> negb (enough w g)) pb.targets)
        (forall_enabled ix w (fun t0 ->
          if stays w t0
          then true
          else inside hint numbered (successor w t0.made_of)))) set)

(** val zval : z option -> z **)

let zval = function
| Some y -> y
| None -> Z0

(** val kget : z M.t -> place -> z **)

let kget k p =
  zval (M.find p k)

(** val tsum : z M.t -> (positive -> z) -> z **)

let rec tsum k f =
  match k with
  | M.Leaf -> Z0
  | M.Node (l, o, r) ->
    Z.add
      (Z.add (match o with
              | Some y -> Z.mul y (f XH)
              | None -> Z0) (tsum l (fun p -> f (XO p))))
      (tsum r (fun p -> f (XI p)))

(** val kadd : place -> z -> z M.t -> z M.t **)

let kadd p y k =
  M.add p (Z.add (kget k p) y) k

(** val vdot_onto : z M.t -> vec -> z -> z **)

let rec vdot_onto k v acc =
  match v with
  | [] -> acc
  | p0 :: v' ->
    let (p, n0) = p0 in
    vdot_onto k v' (Z.add acc (Z.mul (Z.of_N n0) (kget k p)))

(** val vdot : z M.t -> vec -> z **)

let vdot k v =
  vdot_onto k v Z0

(** val mdot : z M.t -> n M.t -> z **)

let rec mdot k g =
  match k with
  | M.Leaf -> Z0
  | M.Node (l, o, r) ->
    (match g with
     | M.Leaf -> Z0
     | M.Node (l', o', r') ->
       Z.add
         (match o with
          | Some y ->
            (match o' with
             | Some n0 -> Z.mul y (Z.of_N n0)
             | None -> Z0)
          | None -> Z0) (Z.add (mdot l l') (mdot r r')))

type trap = { trap_places : place list; multiplier : z }

type refutation = { weights : z M.t; traps : trap list }

(** val mem0 : unit M.t -> place -> bool **)

let mem0 s p =
  match M.find p s with
  | Some _ -> true
  | None -> false

(** val touches : (place -> bool) -> vec -> bool **)

let touches inside0 v =
  existsb (fun pat ->
    let (p, n0) = pat in (&&) (inside0 p) (negb (N.eqb n0 N0))) v

(** val meets : unit M.t -> n M.t -> bool **)

let rec meets s g =
  match s with
  | M.Leaf -> false
  | M.Node (l, o, r) ->
    (match g with
     | M.Leaf -> false
     | M.Node (l', o', r') ->
       if match o with
          | Some _ ->
            (match o' with
             | Some n0 -> negb (N.eqb n0 N0)
             | None -> false)
          | None -> false
       then true
       else if meets l l' then true else meets r r')

(** val disabled : unit M.t -> transition -> bool **)

let disabled siphon t0 =
  touches (mem0 siphon) t0.pre

(** val check_siphon : problem -> unit M.t -> bool **)

let check_siphon pb siphon =
  (&&)
    (entries (fun p _ ->
      match oget pb.initially p with
      | Fin n0 -> (match n0 with
                   | N0 -> true
                   | Npos _ -> false)
      | Omega -> false) siphon)
    (forallb (fun t0 ->
      if touches (mem0 siphon) t0.post then disabled siphon t0 else true)
      pb.transitions)

(** val start : problem -> place -> z **)

let start pb p =
  match oget pb.initially p with
  | Fin n0 -> Z.of_N n0
  | Omega -> Z0

(** val check_weights : problem -> unit M.t -> z M.t -> bool **)

let check_weights pb siphon w =
  (&&)
    (entries (fun p y ->
      match oget pb.initially p with
      | Fin _ -> true
      | Omega -> Z.leb y Z0) w)
    (forallb (fun t0 ->
      if Z.leb (vdot w t0.post) (vdot w t0.pre)
      then true
      else disabled siphon t0) pb.transitions)

(** val to_set : place list -> unit M.t **)

let to_set q =
  fold_left (fun s p -> M.add p () s) q M.empty

(** val check_trap : problem -> unit M.t -> trap -> bool **)

let check_trap pb siphon q =
  let q0 = to_set q.trap_places in
  (&&)
    ((&&) (Z.leb Z0 q.multiplier)
      (existsb (fun p ->
        match oget pb.initially p with
        | Fin n0 -> (match n0 with
                     | N0 -> false
                     | Npos _ -> true)
        | Omega -> false) q.trap_places))
    (forallb (fun t0 ->
      if touches (mem0 q0) t0.pre
      then if touches (mem0 q0) t0.post then true else disabled siphon t0
      else true) pb.transitions)

(** val lower : z -> place list -> z M.t -> z M.t **)

let lower z0 q k =
  fold_left (fun k0 p -> kadd p (Z.opp z0) k0) q k

(** val coefficients : refutation -> z M.t **)

let coefficients r =
  fold_left (fun k q -> lower q.multiplier q.trap_places k) r.traps r.weights

(** val bound : problem -> refutation -> z **)

let bound pb r =
  fold_left (fun b q -> Z.sub b q.multiplier) r.traps
    (tsum r.weights (start pb))

(** val check_refutation : problem -> unit M.t -> refutation -> bool **)

let check_refutation pb siphon r =
  (&&) (check_weights pb siphon r.weights)
    (forallb (check_trap pb siphon) r.traps)

type separator = z M.t * z

(** val separator_of :
    problem -> unit M.t -> refutation -> separator option **)

let separator_of pb siphon r =
  if check_refutation pb siphon r
  then let k = coefficients r in
       if entries (fun p c -> if Z.leb Z0 c then true else mem0 siphon p) k
       then Some (k, (bound pb r))
       else None
  else None

(** val refutes : separator -> n M.t -> bool **)

let refutes s g =
  Z.ltb (snd s) (mdot (fst s) g)

(** val outside : unit M.t -> separator list -> n M.t -> bool **)

let outside siphon l g =
  if meets siphon g then true else existsb (fun s -> refutes s g) l

(** val separators_onto :
    problem -> unit M.t -> refutation list -> separator list -> separator
    list option **)

let rec separators_onto pb siphon rs acc =
  match rs with
  | [] -> Some (rev_append acc [])
  | r :: rs' ->
    (match separator_of pb siphon r with
     | Some s -> separators_onto pb siphon rs' (s :: acc)
     | None -> None)

(** val separators :
    problem -> unit M.t -> refutation list -> separator list option **)

let separators pb siphon rs =
  separators_onto pb siphon rs []

(** val refutes_each : unit M.t -> vec list -> separator list -> bool **)

let rec refutes_each siphon gs l =
  match gs with
  | [] -> (match l with
           | [] -> true
           | _ :: _ -> false)
  | g :: gs' ->
    (match l with
     | [] -> false
     | s :: l' ->
       if if meets siphon (sums g) then true else refutes s (sums g)
       then refutes_each siphon gs' l'
       else false)

(** val check_separator : problem -> unit M.t -> refutation list -> bool **)

let check_separator pb siphon rs =
  if check_siphon pb siphon
  then (match separators pb siphon rs with
        | Some l -> refutes_each siphon pb.targets l
        | None -> false)
  else false

type producers = transition list M.t

(** val of_place : producers -> place -> transition list **)

let of_place ix p =
  match M.find p ix with
  | Some l -> l
  | None -> []

(** val note : transition -> producers -> producers **)

let note t0 ix =
  fold_left (fun ix0 pat ->
    let (p, _) = pat in M.add p (t0 :: (of_place ix0 p)) ix0) t0.post ix

(** val producers_of : transition list -> producers **)

let producers_of l =
  fold_left (fun ix t0 -> note t0 ix) l M.empty

(** val predecessor : n M.t -> transition -> n M.t **)

let predecessor b t0 =
  plus t0.pre (minus t0.post b)

(** val above : (n M.t -> positive option) -> n M.t M.t -> n M.t -> bool **)

let above hint numbered g =
  match hint g with
  | Some i -> (match M.find i numbered with
               | Some b -> mle b g
               | None -> false)
  | None -> false

(** val check_upward :
    problem -> unit M.t -> refutation list -> n M.t list -> (n M.t ->
    positive option) -> bool **)

let check_upward pb siphon rs basis hint =
  if check_siphon pb siphon
  then (match separators pb siphon rs with
        | Some l ->
          let numbered = number basis in
          let good = fun g ->
            if above hint numbered g then true else outside siphon l g
          in
          let ix = producers_of pb.transitions in
          (&&) (forallb (fun g -> good (sums g)) pb.targets)
            (forallb (fun b ->
              (&&)
                (negb
                  (entries (fun p n0 ->
                    match oget pb.initially p with
                    | Fin k -> N.leb n0 k
                    | Omega -> true) b))
                (entries (fun p _ ->
                  forallb (fun t0 -> good (predecessor b t0)) (of_place ix p))
                  b)) basis)
        | None -> false)
  else false

type run =
| Stop
| Fire of positive
| Then of run * run
| Repeat of positive * run

type eff = (z * z) M.t

(** val eval : (z * z) option -> z * z **)

let eval = function
| Some x -> x
| None -> (Z0, Z0)

(** val both :
    ((z * z) -> (z * z) -> z * z) -> (z * z) option -> (z * z) option ->
    (z * z) option **)

let both f o o' =
  match o with
  | Some _ -> Some (f (eval o) (eval o'))
  | None ->
    (match o' with
     | Some _ -> Some (f (eval o) (eval o'))
     | None -> None)

(** val seq0 : eff -> eff -> eff **)

let seq0 a b =
  M._map2
    (both (fun pat pat0 ->
      let (n0, c) = pat in
      let (n', c') = pat0 in ((Z.max n0 (Z.sub n' c)), (Z.add c c')))) a b

(** val times : positive -> eff -> eff **)

let times k a =
  M.map (fun pat ->
    let (n0, c) = pat in
    ((Z.max n0 (Z.sub n0 (Z.mul (Z.sub (Zpos k) (Zpos XH)) c))),
    (Z.mul (Zpos k) c))) a

(** val entry : eff -> place -> z * z **)

let entry e p =
  eval (M.find p e)

(** val taking : vec -> eff -> eff **)

let rec taking v e =
  match v with
  | [] -> e
  | p0 :: v' ->
    let (p, n0) = p0 in
    let (x, c) = entry e p in
    taking v' (M.add p ((Z.add x (Z.of_N n0)), (Z.sub c (Z.of_N n0))) e)

(** val putting : vec -> eff -> eff **)

let rec putting v e =
  match v with
  | [] -> e
  | p0 :: v' ->
    let (p, n0) = p0 in
    let (x, c) = entry e p in
    putting v' (M.add p (x, (Z.add c (Z.of_N n0))) e)

(** val effect_of : transition -> eff **)

let effect_of t0 =
  putting t0.post (taking t0.pre M.empty)

(** val effect : transition M.t -> run -> eff option **)

let rec effect numbered = function
| Stop -> Some M.empty
| Fire i ->
  (match M.find i numbered with
   | Some t0 -> Some (effect_of t0)
   | None -> None)
| Then (a, b) ->
  (match effect numbered a with
   | Some x ->
     (match effect numbered b with
      | Some y -> Some (seq0 x y)
      | None -> None)
   | None -> None)
| Repeat (k, a) ->
  (match effect numbered a with
   | Some x -> Some (times k x)
   | None -> None)

(** val apply : eff -> n M.t -> n M.t option **)

let apply e m =
  if entries (fun p pat -> let (n0, _) = pat in Z.leb n0 (Z.of_N (den m p))) e
  then Some
         (M.fold (fun p x m' ->
           M.add p (Z.to_N (Z.add (Z.of_N (den m p)) (snd x))) m') e m)
  else None

(** val exec : transition M.t -> run -> n M.t -> n M.t option **)

let rec exec numbered r m =
  match r with
  | Stop -> Some m
  | Then (a, b) ->
    (match exec numbered a m with
     | Some m' -> exec numbered b m'
     | None -> None)
  | _ -> (match effect numbered r with
          | Some e -> apply e m
          | None -> None)

(** val begin0 : problem -> n M.t -> n M.t **)

let begin0 pb choice =
  M._map2 (fun c n0 ->
    match c with
    | Some y -> (match y with
                 | Fin k -> Some k
                 | Omega -> n0)
    | None -> None) pb.initially choice

(** val check_run : problem -> n M.t -> unit M.t -> run -> bool **)

let check_run pb choice fired r =
  match exec (number_some fired pb.transitions) r (begin0 pb choice) with
  | Some m -> existsb (fun g -> mle (sums g) m) pb.targets
  | None -> false

type ('loc, 'val0) label = { at_loc : 'loc; read_val : 'val0; written : 'val0 }

type location = positive

type value = positive

type state = positive

type action =
| Internal
| Load of location * value * bool
| Store of location * value * bool
| Update of location * value * value * bool * bool
| Fence of bool * bool

type edge = { source : state; does : action; target : state }

type program = { edges : edge list; memory : (location * value) list;
                 fixed : state list; unbounded : state list }

type access = (location, value) label

(** val label_of : action -> access option **)

let label_of = function
| Internal -> None
| Load (x, v, _) -> Some { at_loc = x; read_val = v; written = XH }
| Store (x, v, _) -> Some { at_loc = x; read_val = XH; written = v }
| Update (x, v, v', _, _) -> Some { at_loc = x; read_val = v; written = v' }
| Fence (_, _) -> Some { at_loc = XH; read_val = XH; written = XH }

type thread =
| First of location
| Thread of nat

(** val thread_dec : thread -> thread -> bool **)

let thread_dec a b =
  match a with
  | First x ->
    (match b with
     | First x0 -> Coq_Pos.eq_dec x x0
     | Thread _ -> false)
  | Thread n0 ->
    (match b with
     | First _ -> false
     | Thread n1 -> Nat.eq_dec n0 n1)

(** val first_write : location -> value -> access **)

let first_write x v =
  { at_loc = x; read_val = XH; written = v }

type mark =
| Apart
| Joined
| Suspects
| Knows
| Fenced

type level =
| Untouched
| WasRead
| WasWritten

type message =
| Silent
| Heard
| Passes
| Overlooked

type spot =
| At of state * mark
| Holds of location * value
| Touched of location * level
| Says of location * message
| Before
| Behind of value * bool
| Success

(** val code : positive -> positive -> positive **)

let rec code p rest =
  match p with
  | XI p' -> XO (XI (code p' rest))
  | XO p' -> XO (XO (code p' rest))
  | XH -> XI rest

(** val number_of : spot -> positive **)

let number_of = function
| At (q, m) ->
  (match m with
   | Apart -> XO (XO (XO (XO (XO (code q XH)))))
   | Joined -> XO (XO (XO (XO (XI (code q XH)))))
   | Suspects -> XO (XO (XO (XI (XO (code q XH)))))
   | Knows -> XO (XO (XO (XI (XI (code q XH)))))
   | Fenced -> XO (XO (XI (XO (XO (code q XH))))))
| Holds (x, v) -> XI (XO (code x (code v XH)))
| Touched (x, l) ->
  (match l with
   | Untouched -> XO (XI (XI (XO (XO (code x XH)))))
   | WasRead -> XO (XI (XI (XO (XI (code x XH)))))
   | WasWritten -> XO (XI (XI (XI (XO (code x XH))))))
| Says (x, m) ->
  (match m with
   | Silent -> XI (XI (XO (XO (code x XH))))
   | Heard -> XI (XI (XI (XI (XI (XI (XO (XI (XI (code x XH)))))))))
   | Passes -> XI (XI (XO (XI (code x XH))))
   | Overlooked -> XI (XI (XI (XO (code x XH)))))
| Before -> XI (XI (XI (XI (XO XH))))
| Behind (v, by_update) ->
  if by_update
  then XI (XI (XI (XI (XI (XI (XI (code v XH)))))))
  else XI (XI (XI (XI (XI (XI (XO (code v XH)))))))
| Success -> XI (XI (XI (XI (XI (XO XH)))))

(** val tokens : spot list -> vec **)

let tokens l =
  images (fun s -> ((number_of s), (Npos XH))) l

(** val moves : spot list -> spot list -> transition **)

let moves before after =
  { pre = (tokens before); post = (tokens after) }

(** val joins : bool -> mark -> level -> bool **)

let joins writing0 m l =
  match m with
  | Apart ->
    (match l with
     | Untouched -> false
     | WasRead -> writing0
     | WasWritten -> true)
  | _ -> true

(** val touch : bool -> level -> level **)

let touch writing0 l =
  if writing0
  then WasWritten
  else (match l with
        | Untouched -> WasRead
        | x -> x)

type rules = { told : message list;
               access_mark : (bool -> bool -> bool -> mark -> message -> mark);
               fence_mark : (bool -> bool -> mark -> mark);
               passing : (bool -> bool -> bool -> mark -> mark -> message ->
                         message); guess_mark : (bool -> mark);
               last_marks : (bool -> mark list) }

(** val marks : mark list **)

let marks =
  Apart :: (Joined :: (Suspects :: (Knows :: (Fenced :: []))))

(** val levels : level list **)

let levels =
  Untouched :: (WasRead :: (WasWritten :: []))

(** val access_moves :
    rules -> bool -> bool -> bool -> bool -> location -> value -> value ->
    state -> state -> transition list **)

let access_moves rl reading0 writing0 acquiring0 releasing0 x v v' q q' =
  (moves ((At (q, Apart)) :: ((Holds (x, v)) :: (Before :: []))) ((At (q',
    Apart)) :: ((Holds (x, v')) :: (Before :: [])))) :: (app
                                                          (if writing0
                                                           then (moves ((At
                                                                  (q,
                                                                  Apart)) :: ((Holds
                                                                  (x,
                                                                  v)) :: ((Touched
                                                                  (x,
                                                                  Untouched)) :: ((Says
                                                                  (x,
                                                                  Silent)) :: (Before :: [])))))
                                                                  ((At (q',
                                                                  (rl.guess_mark
                                                                    reading0))) :: ((Holds
                                                                  (x,
                                                                  v')) :: ((Touched
                                                                  (x,
                                                                  WasWritten)) :: ((Says
                                                                  (x,
                                                                  Overlooked)) :: ((Behind
                                                                  (v,
                                                                  reading0)) :: [])))))) :: []
                                                           else [])
                                                          (flat_map (fun m ->
                                                            flat_map
                                                              (fun l ->
                                                              if joins
                                                                   writing0 m
                                                                   l
                                                              then map
                                                                    (fun s ->
                                                                    let m' =
                                                                    rl.access_mark
                                                                    reading0
                                                                    writing0
                                                                    acquiring0
                                                                    m s
                                                                    in
                                                                    moves
                                                                    ((At (q,
                                                                    m)) :: ((Holds
                                                                    (x,
                                                                    v)) :: ((Touched
                                                                    (x,
                                                                    l)) :: ((Says
                                                                    (x,
                                                                    s)) :: []))))
                                                                    ((At (q',
                                                                    m')) :: ((Holds
                                                                    (x,
                                                                    v')) :: ((Touched
                                                                    (x,
                                                                    (touch
                                                                    writing0
                                                                    l))) :: ((Says
                                                                    (x,
                                                                    (rl.passing
                                                                    reading0
                                                                    writing0
                                                                    releasing0
                                                                    m m' s))) :: [])))))
                                                                    rl.told
                                                              else []) levels)
                                                            marks))

(** val last_moves :
    rules -> bool -> state -> location -> value -> bool -> transition list **)

let last_moves rl writing0 q x v by_update =
  map (fun m ->
    moves ((At (q, m)) :: ((Says (x, Overlooked)) :: ((Behind (v,
      by_update)) :: []))) (Success :: [])) (rl.last_marks writing0)

(** val values_at : value list M.t -> location -> value list **)

let values_at known x =
  match M.find x known with
  | Some l -> l
  | None -> []

(** val note_value :
    value list M.t -> (location * value) -> value list M.t **)

let note_value known a =
  let l = values_at known (fst a) in
  if existsb (Coq_Pos.eqb (snd a)) l
  then known
  else M.add (fst a) ((snd a) :: l) known

(** val writes_value : edge -> (location * value) list **)

let writes_value e =
  match e.does with
  | Store (x, v, _) -> (x, v) :: []
  | Update (x, _, v, _, _) -> (x, v) :: []
  | _ -> []

(** val known_values : program -> value list M.t **)

let known_values p =
  fold_left (fun known e -> fold_left note_value (writes_value e) known)
    p.edges (fold_left note_value p.memory M.empty)

(** val edge_moves : rules -> value list M.t -> edge -> transition list **)

let edge_moves rl known e =
  let q = e.source in
  let q' = e.target in
  (match e.does with
   | Internal ->
     map (fun m -> moves ((At (q, m)) :: []) ((At (q', m)) :: [])) marks
   | Load (x, v, a) ->
     app (access_moves rl true false a false x v v q q')
       (app (last_moves rl false q x v false)
         (last_moves rl false q x v true))
   | Store (x, v', r) ->
     flat_map (fun v ->
       app (access_moves rl false true false r x v v' q q')
         (last_moves rl true q x v false)) (values_at known x)
   | Update (x, v, v', a, r) ->
     app (access_moves rl true true a r x v v' q q')
       (last_moves rl true q x v false)
   | Fence (a, r) ->
     map (fun m ->
       moves ((At (q, m)) :: []) ((At (q', (rl.fence_mark a r m))) :: []))
       marks)

(** val starting : program -> spot list **)

let starting p =
  app (images (fun q -> At (q, Apart)) p.fixed)
    (app
      (collect (fun pat ->
        let (x, v) = pat in
        (Holds (x, v)) :: ((Touched (x, Untouched)) :: ((Says (x,
        Silent)) :: []))) p.memory) (Before :: []))

(** val initially_of : program -> count M.t **)

let initially_of p =
  fold_left (fun m q -> M.add (number_of (At (q, Apart))) Omega m)
    p.unbounded (M.map (fun x -> Fin x) (sums (tokens (starting p))))

(** val net_of : rules -> program -> problem **)

let net_of rl p =
  let known = known_values p in
  { transitions = (collect (edge_moves rl known) p.edges); initially =
  (initially_of p); targets = ((tokens (Success :: [])) :: []) }

(** val location_of : action -> location option **)

let location_of = function
| Load (x, _, _) -> Some x
| Store (x, _, _) -> Some x
| Update (x, _, _, _, _) -> Some x
| _ -> None

(** val listed_once : location list -> unit M.t -> unit M.t option **)

let rec listed_once l seen =
  match l with
  | [] -> Some seen
  | x :: l' ->
    (match M.find x seen with
     | Some _ -> None
     | None -> listed_once l' (M.add x () seen))

(** val check_program : program -> bool **)

let check_program p =
  match listed_once (map fst p.memory) M.empty with
  | Some known ->
    forallb (fun e ->
      match location_of e.does with
      | Some x -> (match M.find x known with
                   | Some _ -> true
                   | None -> false)
      | None -> true) p.edges
  | None -> false

(** val has_cur : mark -> bool **)

let has_cur = function
| Knows -> true
| Fenced -> true
| _ -> false

(** val has_acq : mark -> bool **)

let has_acq = function
| Apart -> false
| Joined -> false
| _ -> true

(** val has_rel : mark -> bool **)

let has_rel = function
| Fenced -> true
| _ -> false

(** val mark_with : bool -> bool -> bool -> mark **)

let mark_with rel cur acq =
  if rel
  then Fenced
  else if cur then Knows else if acq then Suspects else Joined

(** val is_passed : message -> bool **)

let is_passed = function
| Passes -> true
| _ -> false

(** val is_overlooked : message -> bool **)

let is_overlooked = function
| Overlooked -> true
| _ -> false

(** val after_access : bool -> bool -> mark -> message -> mark **)

let after_access reading0 acquiring0 m s =
  let got = (&&) reading0 (is_passed s) in
  let cur = (||) ((||) (has_cur m) (is_overlooked s)) ((&&) acquiring0 got) in
  mark_with (has_rel m) cur ((||) ((||) (has_acq m) cur) got)

(** val after_fence : bool -> bool -> mark -> mark **)

let after_fence acquiring0 releasing0 m = match m with
| Apart -> Apart
| _ ->
  let cur = (||) (has_cur m) ((&&) acquiring0 (has_acq m)) in
  mark_with ((||) (has_rel m) ((&&) releasing0 cur)) cur
    ((||) (has_acq m) cur)

(** val pass : bool -> bool -> bool -> mark -> mark -> message -> message **)

let pass reading0 writing0 releasing0 m m' s =
  if writing0
  then (match s with
        | Overlooked -> Overlooked
        | _ ->
          if (||) ((||) (has_rel m) ((&&) releasing0 (has_cur m')))
               ((&&) reading0 (is_passed s))
          then Passes
          else Silent)
  else s

(** val c11 : rules **)

let c11 =
  { told = (Silent :: (Passes :: (Overlooked :: []))); access_mark =
    (fun reading0 _ acquiring0 -> after_access reading0 acquiring0);
    fence_mark = after_fence; passing = pass; guess_mark = (fun _ -> Knows);
    last_marks = (fun _ -> Joined :: (Suspects :: [])) }

(** val is_reached : mark -> bool **)

let is_reached = function
| Apart -> false
| Joined -> false
| _ -> true

(** val by_read : mark -> bool **)

let by_read = function
| Knows -> true
| _ -> false

(** val at_home : mark -> bool **)

let at_home = function
| Fenced -> true
| _ -> false

(** val is_heard : message -> bool **)

let is_heard = function
| Silent -> false
| _ -> true

(** val is_written : message -> bool **)

let is_written = function
| Silent -> false
| Heard -> false
| _ -> true

(** val at_guess : message -> bool **)

let at_guess = function
| Overlooked -> true
| _ -> false

(** val follows_on : bool -> bool -> mark -> message -> bool **)

let follows_on reading0 writing0 m s =
  (||)
    ((||) ((||) (by_read m) ((&&) (is_reached m) writing0))
      ((&&) ((&&) reading0 (is_written s)) (negb (is_reached m))))
    ((&&) writing0 (is_heard s))

(** val reached_mark : bool -> bool -> mark -> message -> mark **)

let reached_mark reading0 writing0 m s =
  let on = follows_on reading0 writing0 m s in
  if (||) (by_read m) ((&&) on reading0)
  then Knows
  else if (||) (is_reached m) on
       then if (||) (at_home m) (at_guess s) then Fenced else Suspects
       else Joined

(** val reached_message : bool -> bool -> mark -> message -> message **)

let reached_message reading0 writing0 m s =
  if follows_on reading0 writing0 m s
  then (match s with
        | Silent -> if writing0 then Passes else Heard
        | Heard -> if writing0 then Passes else Heard
        | x -> x)
  else s

(** val tso_rules : rules **)

let tso_rules =
  { told = (Silent :: (Heard :: (Passes :: (Overlooked :: []))));
    access_mark = (fun reading0 writing0 _ ->
    reached_mark reading0 writing0); fence_mark = (fun _ _ m -> m); passing =
    (fun reading0 writing0 _ m _ -> reached_message reading0 writing0 m);
    guess_mark = (fun by_update -> if by_update then Knows else Fenced);
    last_marks = (fun writing0 ->
    if writing0 then Joined :: [] else Joined :: (Suspects :: [])) }

type deed =
| Wrote of location * value
| Did of nat * action

type event = { deed_of : deed; source_of : nat option; rank_of : nat }

(** val nothing : access **)

let nothing =
  { at_loc = XH; read_val = XH; written = XH }

(** val label_of_deed : deed -> access **)

let label_of_deed = function
| Wrote (x, v) -> first_write x v
| Did (_, a) -> (match label_of a with
                 | Some l -> l
                 | None -> nothing)

(** val thread_of : deed -> thread **)

let thread_of = function
| Wrote (x, _) -> First x
| Did (n0, _) -> Thread n0

(** val reading : deed -> bool **)

let reading = function
| Wrote (_, _) -> false
| Did (_, a) ->
  (match a with
   | Load (_, _, _) -> true
   | Update (_, _, _, _, _) -> true
   | _ -> false)

(** val writing : deed -> bool **)

let writing = function
| Wrote (_, _) -> true
| Did (_, a) ->
  (match a with
   | Store (_, _, _) -> true
   | Update (_, _, _, _, _) -> true
   | _ -> false)

(** val acquiring : deed -> bool **)

let acquiring = function
| Wrote (_, _) -> false
| Did (_, a0) ->
  (match a0 with
   | Load (_, _, a) -> a
   | Update (_, _, _, a, _) -> a
   | Fence (a, _) -> a
   | _ -> false)

(** val releasing : deed -> bool **)

let releasing = function
| Wrote (_, _) -> false
| Did (_, a) ->
  (match a with
   | Store (_, _, r) -> r
   | Update (_, _, _, _, r) -> r
   | Fence (_, r) -> r
   | _ -> false)

(** val ev : event list -> nat -> event option **)

let ev =
  nth_error

(** val test : event list -> (deed -> bool) -> nat -> bool **)

let test evs f i =
  match ev evs i with
  | Some e -> f e.deed_of
  | None -> false

(** val lab_at : event list -> nat -> access **)

let lab_at evs i =
  match ev evs i with
  | Some e -> label_of_deed e.deed_of
  | None -> nothing

(** val tid_at : event list -> nat -> thread **)

let tid_at evs i =
  match ev evs i with
  | Some e -> thread_of e.deed_of
  | None -> Thread O

(** val src : event list -> nat -> nat option **)

let src evs i =
  match ev evs i with
  | Some e -> e.source_of
  | None -> None

(** val rank : event list -> nat -> nat **)

let rank evs i =
  match ev evs i with
  | Some e -> e.rank_of
  | None -> O

(** val same_place : event list -> nat -> nat -> bool **)

let same_place evs i j =
  Coq_Pos.eqb (lab_at evs i).at_loc (lab_at evs j).at_loc

(** val po_b : event list -> nat -> nat -> bool **)

let po_b evs i j =
  (&&) (if thread_dec (tid_at evs i) (tid_at evs j) then true else false)
    (Nat.ltb i j)

(** val rf_b : event list -> nat -> nat -> bool **)

let rf_b evs i j =
  match src evs j with
  | Some w -> Nat.eqb i w
  | None -> false

(** val mo_b : event list -> nat -> nat -> bool **)

let mo_b evs i j =
  (&&)
    ((&&) ((&&) (test evs writing i) (test evs writing j))
      (same_place evs i j)) (Nat.ltb (rank evs i) (rank evs j))

(** val fr_b : event list -> nat -> nat -> bool **)

let fr_b evs i j =
  match src evs i with
  | Some w -> (&&) (mo_b evs w j) (negb (Nat.eqb i j))
  | None -> false

(** val all : event list -> (nat -> bool) -> bool **)

let all evs f =
  forallb f (seq O (length evs))

(** val sources_fit : event list -> bool **)

let sources_fit evs =
  all evs (fun j ->
    match src evs j with
    | Some i ->
      (&&)
        ((&&)
          ((&&) ((&&) (Nat.ltb i j) (test evs writing i))
            (test evs reading j)) (same_place evs i j))
        (Coq_Pos.eqb (lab_at evs j).read_val (lab_at evs i).written)
    | None -> negb (test evs reading j))

(** val ranks_fit : event list -> bool **)

let ranks_fit evs =
  all evs (fun i ->
    all evs (fun j ->
      (||)
        ((||)
          (negb
            ((&&) ((&&) (test evs writing i) (test evs writing j))
              (same_place evs i j))) (Nat.eqb i j))
        (negb (Nat.eqb (rank evs i) (rank evs j)))))

(** val firsts_fit : event list -> bool **)

let firsts_fit evs =
  all evs (fun i ->
    match ev evs i with
    | Some e ->
      let { deed_of = deed_of0; source_of = _; rank_of = _ } = e in
      (match deed_of0 with
       | Wrote (x, _) ->
         all evs (fun j ->
           (||)
             ((||) (Nat.eqb i j)
               (negb
                 ((&&) (test evs writing j)
                   (Coq_Pos.eqb (lab_at evs j).at_loc x)))) (mo_b evs i j))
       | Did (_, _) -> true)
    | None -> true)

(** val fits : event list -> bool **)

let fits evs =
  (&&) ((&&) (sources_fit evs) (ranks_fit evs)) (firsts_fit evs)

(** val action_eqb : action -> action -> bool **)

let action_eqb a b =
  match a with
  | Internal -> (match b with
                 | Internal -> true
                 | _ -> false)
  | Load (x, v, a0) ->
    (match b with
     | Load (x', v', a') ->
       (&&) ((&&) (Coq_Pos.eqb x x') (Coq_Pos.eqb v v')) (eqb a0 a')
     | _ -> false)
  | Store (x, v, r) ->
    (match b with
     | Store (x', v', r') ->
       (&&) ((&&) (Coq_Pos.eqb x x') (Coq_Pos.eqb v v')) (eqb r r')
     | _ -> false)
  | Update (x, v, u, a0, r) ->
    (match b with
     | Update (x', v', u', a', r') ->
       (&&)
         ((&&)
           ((&&) ((&&) (Coq_Pos.eqb x x') (Coq_Pos.eqb v v'))
             (Coq_Pos.eqb u u')) (eqb a0 a')) (eqb r r')
     | _ -> false)
  | Fence (a0, r) ->
    (match b with
     | Fence (a', r') -> (&&) (eqb a0 a') (eqb r r')
     | _ -> false)

(** val edge_eqb : edge -> edge -> bool **)

let edge_eqb a b =
  (&&) ((&&) (Coq_Pos.eqb a.source b.source) (action_eqb a.does b.does))
    (Coq_Pos.eqb a.target b.target)

(** val walks : program -> state -> edge list -> action list -> bool **)

let rec walks p q path acts =
  match path with
  | [] -> (match acts with
           | [] -> true
           | _ :: _ -> false)
  | e :: path' ->
    (&&) ((&&) (existsb (edge_eqb e) p.edges) (Coq_Pos.eqb e.source q))
      (if action_eqb e.does Internal
       then walks p e.target path' acts
       else (match acts with
             | [] -> false
             | b :: acts' ->
               (&&) (action_eqb e.does b) (walks p e.target path' acts')))

(** val acts_of : event list -> nat -> action list **)

let acts_of evs m =
  flat_map (fun e ->
    match e.deed_of with
    | Wrote (_, _) -> []
    | Did (k, a) -> if Nat.eqb k m then a :: [] else []) evs

(** val paths_fit :
    event list -> program -> nat -> state list -> edge list list -> bool **)

let rec paths_fit evs p m starts paths =
  match starts with
  | [] -> (match paths with
           | [] -> true
           | _ :: _ -> false)
  | q :: starts' ->
    (match paths with
     | [] -> false
     | path :: paths' ->
       (&&) (walks p q path (acts_of evs m))
         (paths_fit evs p (S m) starts' paths'))

(** val deeds_fit : event list -> program -> state list -> bool **)

let deeds_fit evs p threads =
  all evs (fun i ->
    match ev evs i with
    | Some e ->
      let { deed_of = deed_of0; source_of = _; rank_of = _ } = e in
      (match deed_of0 with
       | Wrote (x, v) ->
         (&&)
           (existsb (fun pat ->
             let (y, u) = pat in (&&) (Coq_Pos.eqb x y) (Coq_Pos.eqb v u))
             p.memory)
           (all evs (fun j ->
             (||) (Nat.leb i j)
               (negb
                 (if thread_dec (tid_at evs j) (First x) then true else false))))
       | Did (m, _) -> Nat.ltb m (length threads))
    | None -> true)

(** val contains :
    event list -> (nat -> nat -> bool) -> (nat -> nat -> bool) -> bool **)

let contains evs step rel =
  all evs (fun i -> all evs (fun j -> (||) (negb (step i j)) (rel i j)))

(** val transitive : event list -> (nat -> nat -> bool) -> bool **)

let transitive evs rel =
  all evs (fun i ->
    all evs (fun j ->
      (||) (negb (rel i j))
        (all evs (fun k -> (||) (negb (rel j k)) (rel i k)))))

(** val irreflexive : event list -> (nat -> nat -> bool) -> bool **)

let irreflexive evs rel =
  all evs (fun i -> negb (rel i i))

(** val accesses_b : event list -> nat -> bool **)

let accesses_b evs i =
  (||) (test evs reading i) (test evs writing i)

(** val eco_step : event list -> nat -> nat -> bool **)

let eco_step evs i j =
  (||) ((||) (rf_b evs i j) (mo_b evs i j)) (fr_b evs i j)

(** val sc_step : event list -> nat -> nat -> bool **)

let sc_step evs i j =
  (||) (po_b evs i j) (eco_step evs i j)

type relations = { sequences : (nat -> nat -> bool);
                   happens : (nat -> nat -> bool);
                   ecos : (nat -> nat -> bool);
                   common : (nat -> nat -> bool);
                   coherent : (nat -> nat -> bool) }

(** val sequences_fit : event list -> relations -> bool **)

let sequences_fit evs r =
  all evs (fun g ->
    (&&) ((||) (negb (test evs writing g)) (r.sequences g g))
      (all evs (fun w ->
        (||) (negb (r.sequences g w))
          (all evs (fun u ->
            (||) (negb ((&&) (rf_b evs w u) (test evs writing u)))
              (r.sequences g u))))))

(** val makes_known_b : event list -> nat -> nat -> bool **)

let makes_known_b evs a g =
  (&&) (test evs releasing a)
    ((||) ((&&) (Nat.eqb a g) (test evs writing a))
      ((&&) (negb (accesses_b evs a)) (po_b evs a g)))

(** val learns_b : event list -> nat -> nat -> bool **)

let learns_b evs r b =
  (&&) (test evs acquiring b)
    ((||) ((&&) (Nat.eqb r b) (test evs reading b))
      ((&&) (negb (accesses_b evs b)) (po_b evs r b)))

(** val sync_b : event list -> relations -> nat -> nat -> bool **)

let sync_b evs r a b =
  negb
    (all evs (fun g ->
      (||) (negb (makes_known_b evs a g))
        (all evs (fun r0 ->
          match src evs r0 with
          | Some w -> negb ((&&) (r.sequences g w) (learns_b evs r0 b))
          | None -> true))))

(** val hb_step : event list -> relations -> nat -> nat -> bool **)

let hb_step evs r i j =
  (||) (po_b evs i j) (sync_b evs r i j)

(** val atomic_b : event list -> bool **)

let atomic_b evs =
  all evs (fun u ->
    match src evs u with
    | Some w ->
      (||) (negb (test evs writing u))
        ((&&) (mo_b evs w u)
          (all evs (fun x ->
            (||) ((||) (negb (mo_b evs w x)) (Nat.eqb x u)) (mo_b evs u x))))
    | None -> true)

(** val c11_b : event list -> relations -> bool **)

let c11_b evs r =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&) (sequences_fit evs r)
                (contains evs (hb_step evs r) r.happens))
              (transitive evs r.happens)) (irreflexive evs r.happens))
          (contains evs (eco_step evs) r.ecos)) (transitive evs r.ecos))
      (all evs (fun i ->
        all evs (fun j -> negb ((&&) (r.happens i j) (r.ecos j i))))))
    (atomic_b evs)

(** val ppo_b : event list -> nat -> nat -> bool **)

let ppo_b evs i j =
  (&&) (po_b evs i j)
    ((||) ((&&) (test evs reading i) (accesses_b evs j))
      ((&&) (test evs writing i) (test evs writing j)))

(** val ghb_step : event list -> nat -> nat -> bool **)

let ghb_step evs i j =
  (||)
    ((||) ((||) (ppo_b evs i j) ((&&) (rf_b evs i j) (negb (po_b evs i j))))
      (mo_b evs i j)) (fr_b evs i j)

(** val uni_step : event list -> nat -> nat -> bool **)

let uni_step evs i j =
  (||)
    ((&&)
      ((&&) ((&&) (po_b evs i j) (same_place evs i j)) (accesses_b evs i))
      (accesses_b evs j)) (eco_step evs i j)

(** val tso_b : event list -> relations -> bool **)

let tso_b evs r =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (contains evs (ghb_step evs) r.common)
              (transitive evs r.common)) (irreflexive evs r.common))
          (contains evs (uni_step evs) r.coherent))
        (transitive evs r.coherent)) (irreflexive evs r.coherent))
    (atomic_b evs)

(** val chain : event list -> nat -> nat list -> nat -> bool **)

let rec chain evs i l last =
  match l with
  | [] ->
    (&&) ((&&) (sc_step evs i last) (Nat.ltb i (length evs)))
      (Nat.ltb last (length evs))
  | j :: l' ->
    (&&)
      ((&&) ((&&) (sc_step evs i j) (Nat.ltb i (length evs)))
        (Nat.ltb j (length evs))) (chain evs j l' last)

(** val cycle_b : event list -> nat list -> bool **)

let cycle_b evs = function
| [] -> false
| i :: l -> chain evs i l i

(** val starts_fit : program -> state list -> bool **)

let starts_fit p others =
  forallb (fun q -> existsb (Coq_Pos.eqb q) p.unbounded) others

(** val check_violation :
    (event list -> relations -> bool) -> program -> state list -> event list
    -> edge list list -> relations -> nat list -> bool **)

let check_violation model p others evs paths r cycle =
  (&&)
    ((&&)
      ((&&)
        ((&&) ((&&) (starts_fit p others) (fits evs))
          (paths_fit evs p O (app p.fixed others) paths))
        (deeds_fit evs p (app p.fixed others))) (model evs r))
    (cycle_b evs cycle)

(** val check_c11_violation :
    program -> state list -> event list -> edge list list -> relations -> nat
    list -> bool **)

let check_c11_violation =
  check_violation c11_b

(** val check_tso_violation :
    program -> state list -> event list -> edge list list -> relations -> nat
    list -> bool **)

let check_tso_violation =
  check_violation tso_b
