(* Reader of mist's `.spec`. A rule `p >= k -> p' = p - s` takes k and leaves k - s. Only lower bounds in guards and
   targets, only additions of constants in rules; anything else is refused. *)
open Refuse
open Proved

type reader = {
  text : string;                             (* with a byte 0 behind it *)
  length : int;
  mutable at : int;
  (* An open hash table of names in the text: where each place's name starts, how long it is. *)
  mutable slots : int array;
  mutable from : int array; mutable long : int array; mutable count : int;
  mutable positives : positive array }

let wrong r what =
  let line = ref 1 in
  String.iteri (fun i c -> if i < r.at && c = '\n' then incr line) r.text;
  refuse "the net, line %d: %s" !line what

(* ---- tokens ---- *)

let is_letter c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c = '_'
let is_digit c = c >= '0' && c <= '9'

let peek r = String.unsafe_get r.text r.at

let rec space r = match peek r with
  | ' ' | '\n' | '\t' | '\r' -> r.at <- r.at + 1; space r
  | '#' -> comment r
  | _ -> ()
and comment r =
  if r.at < r.length && peek r <> '\n' then (r.at <- r.at + 1; comment r) else space r

let skip r n = r.at <- r.at + n; space r

let accept r c = if peek r = c then (skip r 1; true) else false
let expect r c = if not (accept r c) then wrong r (Printf.sprintf "expected `%c`" c)
let expect_two r c d =
  if peek r = c && String.unsafe_get r.text (r.at + 1) = d then skip r 2
  else wrong r (Printf.sprintf "expected `%c%c`" c d)

(* For each byte, whether a word may go on with it. *)
let continues = Array.init 256 (fun c -> is_letter (Char.chr c) || is_digit (Char.chr c))

let rec word_end text i =
  if Array.unsafe_get continues (Char.code (String.unsafe_get text i)) then word_end text (i + 1) else i

let word_length r = if is_letter (peek r) then word_end r.text r.at - r.at else 0

let at_word r w =
  let n = String.length w in
  word_length r = n && String.sub r.text r.at n = w

let expect_word r w = if at_word r w then skip r (String.length w) else wrong r (Printf.sprintf "expected `%s`" w)

let small = Array.init 256 Numbers.n_of_int

(* A number of any size. *)
let number r =
  let rec go i value =
    let c = String.unsafe_get r.text i in
    if is_digit c then go (i + 1) (if value > 1 lsl 57 then max_int else 10 * value + Char.code c - 48) else (i, value) in
  let until, value = go r.at 0 in
  if until = r.at then wrong r "expected a number";
  let n =
    if value < 256 then small.(value)
    else if value <= 1 lsl 58 then Numbers.n_of_int value
    else Numbers.n_of_digits (String.sub r.text r.at (until - r.at)) in
  r.at <- until; space r; n

(* ---- names of places ---- *)

let rec hash text i until h =
  if i = until then h else hash text (i + 1) until ((h * 31 + Char.code (String.unsafe_get text i)) land 0x3fffffff)

let rec same text i j n =
  n = 0 || (String.unsafe_get text i = String.unsafe_get text j && same text (i + 1) (j + 1) (n - 1))

(* The slot of the name that comes next, and of which place it is, or -1. *)
let find r n =
  let mask = Array.length r.slots - 1 in
  let rec go slot =
    let p = r.slots.(slot) in
    if p < 0 || (r.long.(p) = n && same r.text r.from.(p) r.at n) then slot else go ((slot + 1) land mask) in
  go ((hash r.text r.at (r.at + n) 7 * 0x9e3779b1) lsr 7 land mask)

let place r =
  let n = word_length r in
  if n = 0 then wrong r "expected a place";
  let p = r.slots.(find r n) in
  if p < 0 then wrong r (Printf.sprintf "no place `%s`" (String.sub r.text r.at n));
  skip r n; p

let keywords = [ "vars"; "rules"; "init"; "target"; "invariants"; "true"; "in" ]

let grow r =
  let larger = 2 * Array.length r.slots in
  let old = r.from and old_long = r.long in
  let wider a = Array.append a (Array.make (Array.length a) 0) in
  r.from <- wider old; r.long <- wider old_long;
  r.slots <- Array.make larger (-1);
  let at = r.at in
  for p = 0 to r.count - 1 do
    r.at <- r.from.(p);
    r.slots.(find r r.long.(p)) <- p
  done;
  r.at <- at

let variables r =
  while not (at_word r "rules") do
    let n = word_length r in
    if n = 0 then wrong r "expected a place or `rules`";
    let name = String.sub r.text r.at n in
    if List.mem name keywords then wrong r (Printf.sprintf "`%s` cannot name a place" name);
    if 2 * (r.count + 1) > Array.length r.slots then grow r;
    let slot = find r n in
    if r.slots.(slot) >= 0 then wrong r (Printf.sprintf "place `%s` twice" name);
    r.slots.(slot) <- r.count;
    r.from.(r.count) <- r.at; r.long.(r.count) <- n;
    r.count <- r.count + 1;
    skip r n
  done;
  r.positives <- Array.init r.count Numbers.place

(* ---- rules ---- *)

(* Lower bounds, the larger of two on one place. [stamp] says which list last had a place, [slot] where. *)
type bounds = { mutable size : int; mutable on : int array; mutable low : n array; stamp : int array; slot : int array; mutable list : int }

let bounds places = { size = 0; on = Array.make 8 0; low = Array.make 8 N0; stamp = Array.make places 0; slot = Array.make places 0; list = 0 }

let clear b = b.size <- 0; b.list <- b.list + 1

let bound_of b p = if b.stamp.(p) = b.list then b.slot.(p) else -1

let is_zero = function N0 -> true | Npos _ -> false
let is_less a b = match a, b with Npos XH, Npos XH -> false | _ -> N.ltb a b

let add_bound b p k =
  let i = bound_of b p in
  if i >= 0 then (if is_less b.low.(i) k then b.low.(i) <- k)
  else begin
    if b.size = Array.length b.on then begin
      b.on <- Array.append b.on b.on; b.low <- Array.append b.low b.low end;
    b.on.(b.size) <- p; b.low.(b.size) <- k;
    b.stamp.(p) <- b.list; b.slot.(p) <- b.size;
    b.size <- b.size + 1 end

(* The bounds that ask for something, as a vector. *)
let vector r b =
  let rec go i v = if i < 0 then v else go (i - 1) (if is_zero b.low.(i) then v else (r.positives.(b.on.(i)), b.low.(i)) :: v) in
  go (b.size - 1) []

let rec guards r b =
  if at_word r "true" then skip r 4
  else begin
    let p = place r in
    expect_two r '>' '=';
    add_bound b p (number r) end;
  if accept r ',' then guards r b

(* The changes of a rule, each with what it leaves; a place that no update names keeps what the guard asks for. *)
let rec updates r b (u : bounds) v =
  let p = place r in
  expect r '\'';
  expect r '=';
  if place r <> p then wrong r "a transfer is no rule of a place/transition net";
  if bound_of u p >= 0 then wrong r "a place is updated twice";
  let held = let i = bound_of b p in if i >= 0 then b.low.(i) else N0 in
  let rec changes plus minus =
    if accept r '+' then changes (N.add plus (number r)) minus
    else if peek r = '-' && String.unsafe_get r.text (r.at + 1) <> '>' then (skip r 1; changes plus (N.add minus (number r)))
    else plus, minus in
  let plus, minus = changes held N0 in
  if is_less plus minus then wrong r "a place may become negative";
  add_bound u p N0;
  let left = N.sub plus minus in
  let v = if is_zero left then v else (r.positives.(p), left) :: v in
  if accept r ',' then updates r b u v else v

let rule r b u =
  clear b; clear u;
  guards r b;
  expect_two r '-' '>';
  let changed = if peek r = ';' then [] else updates r b u [] in
  expect r ';';
  let rec kept i v =
    if i < 0 then v
    else kept (i - 1) (if is_zero b.low.(i) || bound_of u b.on.(i) >= 0 then v else (r.positives.(b.on.(i)), b.low.(i)) :: v) in
  { pre = vector r b; post = kept (b.size - 1) changed }

let rec rules r b u all n = if at_word r "init" then all, n else (let t = rule r b u in rules r b u (t :: all) (n + 1))

(* ---- where it starts, and what is asked ---- *)

(* `p >= k` is any number; of `p in [a, b]` the largest covers what the others cover. *)
let relation r =
  if peek r = '>' then (expect_two r '>' '='; ignore (number r); Omega)
  else if accept r '=' then Fin (number r)
  else if at_word r "in" then begin
    skip r 2;
    expect r '[';
    let low = number r in
    expect r ',';
    let high = number r in
    if is_less high low then wrong r "an empty range";
    expect r ']';
    Fin high end
  else wrong r "expected `>=`, `=` or `in`"

let rec initial r given m =
  let p = place r in
  if given.(p) then wrong r "an initial count is given twice";
  given.(p) <- true;
  let m = match relation r with Fin N0 -> m | c -> PositiveMap.add r.positives.(p) c m in
  if accept r ',' then initial r given m else m

let rec target r b =
  let p = place r in
  expect_two r '>' '=';
  add_bound b p (number r);
  if accept r ',' then target r b

let rec targets r b all =
  clear b;
  target r b;
  let all = vector r b :: all in
  if r.at = r.length || at_word r "invariants" then List.rev all else targets r b all

(* Invariants are a hint for other tools: read for their form, and left aside. *)
let rec invariants r =
  if r.at < r.length then begin
    ignore (place r);
    ignore (relation r);
    ignore (accept r ',');
    invariants r end

let read text =
  let r = {
    text = text ^ "\000\000"; length = String.length text; at = 0;
    slots = Array.make 64 (-1); from = Array.make 64 0; long = Array.make 64 0; count = 0; positives = [||] } in
  space r;
  expect_word r "vars";
  variables r;
  expect_word r "rules";
  let b = bounds r.count in
  let all, transition_count = rules r b (bounds r.count) [] 0 in
  expect_word r "init";
  let given = Array.make r.count false in
  let initially = initial r given PositiveMap.empty in
  if not (Array.for_all Fun.id given) then wrong r "the initial count of a place is missing";
  expect_word r "target";
  let targets = targets r b [] in
  if r.at < r.length then (expect_word r "invariants"; invariants r);
  if r.at <> r.length then wrong r "something after the net";
  { Net.problem = { transitions = List.rev all; initially; targets };
    numbers = r.positives;
    places = Array.init r.count (fun p -> String.sub r.text r.from.(p) r.long.(p));
    transition_count;
    transition_name = Printf.sprintf "t%d" }
