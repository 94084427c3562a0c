(* Reader of place/transition nets in PNML. Pages are flattened; graphics and parts of tools are left aside. Elements and attributes
   that are not named here are not read: they may mean something. *)
open Refuse
open Proved

type ids = {
  place_of : (string, int) Hashtbl.t;              (* numbers, from 0, by id *)
  transition_of : (string, transition) Hashtbl.t }

let one = Npos XH
let unread what (e : Xml.t) = Query.unread "%s `<%s>` in PNML is not read" what e.name
let is_aside (e : Xml.t) = e.name = "graphics" || e.name = "toolspecific"

(* Refuses attributes and children other than these. *)
let only attributes children (e : Xml.t) =
  List.iter (fun (key, _) -> if not (List.mem key attributes || String.starts_with ~prefix:"xmlns" key) then
    Query.unread "the attribute `%s` of `<%s>` in PNML is not read" key e.name) e.attributes;
  List.iter (fun c -> if not (is_aside c || List.mem c.Xml.name children) then unread "the element" c) e.children;
  if children <> [] && e.text <> "" then Query.unread "text in `<%s>` in PNML is not read" e.name

let id (e : Xml.t) = match Xml.attribute e "id" with Some id -> id | None -> refuse "the net: `<%s>` without `id`" e.name

(* What a label's `<text>` says. *)
let label (e : Xml.t) name = match Xml.child e name with
  | None -> ""
  | Some l ->
    only [] [ "text" ] l;
    match Xml.child l "text" with
    | Some t -> only [] [] t; t.text
    | None -> unread "a label without text," l

let number e name default = match label e name with "" -> default | digits -> Query.number digits

(* A vector of what these arcs, by number of the place, take or put together. *)
let vector numbers arcs =
  let rec sums = function
    | (p, n) :: (q, k) :: rest when p = q -> sums ((p, N.add n k) :: rest)
    | (p, n) :: rest -> (numbers.(p), n) :: sums rest
    | [] -> [] in
  sums (List.stable_sort (fun (p, _) (q, _) -> compare (p : int) q) arcs)

let read text : Net.t * ids =
  let root = Xml.parse text in
  if root.name <> "pnml" then refuse "the net: `<%s>` is no PNML" root.name;
  only [] [ "net" ] root;
  let net = match Xml.child root "net" with Some net -> net | None -> refuse "the net: there is no `<net>`" in
  (match Xml.attribute net "type" with
   | Some ("http://www.pnml.org/version-2009/grammar/ptnet") -> ()
   | _ -> Query.unread "nets in PNML of other types than `ptnet` are not read");
  let nodes = ref [] and arcs = ref [] in
  let rec page (e : Xml.t) =
    only (if e.name = "net" then [ "id"; "type" ] else [ "id" ]) [ "name"; "page"; "place"; "transition"; "arc" ] e;
    List.iter (fun (c : Xml.t) -> match c.name with
      | "page" -> page c
      | "place" | "transition" -> nodes := c :: !nodes
      | "arc" -> arcs := c :: !arcs
      | _ -> ()) e.children in
  page net;
  let places, transitions = List.partition (Xml.named "place") (List.rev !nodes) in
  let taken = Hashtbl.create 1000 in
  let take e = let i = id e in if Hashtbl.mem taken i then refuse "the net: the id `%s` twice" i; Hashtbl.add taken i () in
  let place_of = Hashtbl.create 1000 and names = Hashtbl.create 1000 in
  let place i (e : Xml.t) =
    take e;
    only [ "id" ] [ "name"; "initialMarking" ] e;
    Hashtbl.add place_of (id e) i;
    let rec unique name = if Hashtbl.mem names name then unique (name ^ "#" ^ id e) else name in
    let name = unique (match label e "name" with "" -> id e | name -> name) in
    Hashtbl.add names name ();
    name, number e "initialMarking" N0 in
  let places = Array.of_list (List.mapi place places) in
  let numbers = Array.init (Array.length places) Numbers.place in
  let index = Hashtbl.create 1000 in
  let transition i (e : Xml.t) =
    take e;
    only [ "id" ] [ "name" ] e;
    Hashtbl.add index (id e) i;
    match label e "name" with "" -> id e | name -> name in
  let names = Array.of_list (List.mapi transition transitions) in
  let pre = Array.make (Array.length names) [] and post = Array.make (Array.length names) [] in
  List.iter (fun (e : Xml.t) ->
    only [ "id"; "source"; "target" ] [ "inscription" ] e;
    if Xml.attribute e "id" <> None then take e;
    let weight = number e "inscription" one in
    if weight = N0 then refuse "the net: an arc of weight 0";
    let ends key = match Xml.attribute e key with Some i -> i | None -> refuse "the net: an arc without `%s`" key in
    let source = ends "source" and target = ends "target" in
    match Hashtbl.find_opt place_of source, Hashtbl.find_opt index target with
    | Some p, Some t -> pre.(t) <- (p, weight) :: pre.(t)
    | _ ->
      match Hashtbl.find_opt index source, Hashtbl.find_opt place_of target with
      | Some t, Some p -> post.(t) <- (p, weight) :: post.(t)
      | _ -> refuse "the net: an arc from `%s` to `%s` joins no place and transition" source target) !arcs;
  let all = Array.init (Array.length names) (fun t -> { pre = vector numbers pre.(t); post = vector numbers post.(t) }) in
  let initially = ref M.empty and transition_of = Hashtbl.create 1000 in
  Array.iteri (fun i (_, n) -> if n <> N0 then initially := M.add numbers.(i) (Fin n) !initially) places;
  Hashtbl.iter (fun i t -> Hashtbl.add transition_of i all.(t)) index;
  { problem = { transitions = Array.to_list all; initially = !initially; targets = [] }; numbers;
    places = Array.map fst places; transition_count = Array.length names; transition_name = Array.get names },
  { place_of; transition_of }
