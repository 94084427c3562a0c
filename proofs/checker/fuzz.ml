(* Feeds one reader with a file, for a fuzzer: the first byte says which reader. What it refuses is well; anything else breaks off. *)

let net = lazy (fst (Pnml.read "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\
  <place id=\"s0\"/><place id=\"l0\"/><transition id=\"t\"/><arc source=\"s0\" target=\"t\"/></page></net></pnml>"))

let read kind text = match kind with
  | 's' -> ignore (Spec.read text)
  | 't' -> ignore (Systems.tts text)
  | 'l' -> ignore (Systems.lola text)
  | 'p' -> ignore (Pnml.read text)
  | 'q' -> ignore (Query.prop (Lazy.force net) text)
  | 'f' -> ignore (Query.formula (Lazy.force net) text)
  | 'x' ->
    let place_of = Hashtbl.create 2 and transition_of = Hashtbl.create 2 in
    List.iteri (fun i name -> Hashtbl.add place_of name i) [ "s0"; "l0" ];
    Hashtbl.add transition_of "t" (List.hd (Lazy.force net).problem.transitions);
    ignore (Mcc.read (Lazy.force net) { place_of; transition_of } None text)
  | 'e' -> ignore (Evidence.read text)
  | 'z' -> ignore (Gzip.unpack text)
  | 'c' -> ignore (Automata.program (Tpl.read text) ~release_acquire:true ~any:true)
  | _ -> ()

let () =
  let channel = open_in_bin Sys.argv.(1) in
  let text = really_input_string channel (in_channel_length channel) in
  if text <> "" then
    try read text.[0] (String.sub text 1 (String.length text - 1)) with Refuse.Refused _ | Query.Unread _ -> ()
