(* `palisade-proved EVIDENCE NET [QUERY]` checks evidence about a net by what Coq has proved.
   `palisade-proved net PROGRAM [ra|tso] [any]` prints the net of a program in TPL: under C11, or with `ra` release/acquire, or with
   `tso` x86-TSO, and with `any` for any number of its threads. `palisade-proved robust EVIDENCE PROGRAM [ra|tso] [any]` checks
   evidence about that net, which shows that the program is robust, or a violation.
   Exit status: 0 accepted, 4 rejected, 3 a format or question that is not read, 2 a file that cannot be read. *)

let slurp path =
  let channel = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () -> really_input_string channel (in_channel_length channel))

let check_hash (file : Evidence.file) path bytes =
  let actual = Sha256.hex bytes in
  if actual <> file.sha256 then
    Refuse.refuse "subject: the evidence is about `%s` with SHA-256 %s, and `%s` has %s" file.path file.sha256 path actual

let text bytes =
  let plain = if Gzip.is_gzip bytes then Gzip.unpack bytes else bytes in
  let mark = "\xef\xbb\xbf" in
  if String.length plain >= 3 && String.sub plain 0 3 = mark then String.sub plain 3 (String.length plain - 3) else plain

let read_evidence path =
  let evidence = slurp path in
  if String.length evidence > 1 lsl 30 then Refuse.refuse "malformed evidence: longer than 2^30 bytes";
  Evidence.read evidence

let accept evidence_path net_path query_path =
  let subject, claim = read_evidence evidence_path in
  let bytes = slurp net_path in
  check_hash subject.input net_path bytes;
  let net, ids = match subject.input.format with
    | "spec" -> Spec.read (text bytes), None
    | "tts" -> Systems.tts (text bytes), None
    | "lola" -> Systems.lola (text bytes), None
    | "pnml" -> let net, ids = Pnml.read (text bytes) in net, Some ids
    | format -> Query.unread "nets of the format `%s` are not read" format in
  let net = match subject.query, query_path with
    | None, None when subject.property = None -> net
    | Some query, Some path ->
      let bytes = slurp path in
      check_hash query path bytes;
      let targets = match query.format, subject.property, ids with
        | "prop", None, _ -> Query.prop net (text bytes)
        | "formula", None, _ -> Query.formula net (text bytes)
        | "xml", property, Some ids -> Mcc.read net ids property (text bytes)
        | format, _, _ -> Query.unread "questions of the format `%s` are not read" format in
      { net with problem = { net.problem with targets } }
    | _ -> Refuse.refuse "subject: the question is in another file" in
  let says = match Check.check net subject claim with
    | Coverable -> "some reachable marking covers a target"
    | Uncoverable -> "no reachable marking covers a target" in
  Printf.printf "%s: accepted: %s of the net as read from %s\n" evidence_path says net_path

let options = [ "ra"; "tso"; "any" ]

(* The program, and whether it has non-atomic accesses. *)
let program path given =
  List.iter (fun o -> if not (List.mem o options) then Refuse.refuse "there is no option `%s`" o) given;
  let program = Tpl.read (text (slurp path)) in
  let strong = List.mem "ra" given || List.mem "tso" given in
  Automata.program program ~release_acquire:strong ~any:(List.mem "any" given), program.plain <> []

(* Evidence about the net of a program, which is the one that `net` prints. *)
let robust evidence_path program_path given =
  let subject, claim = read_evidence evidence_path in
  let program, plain = program program_path given in
  if not (Proved.check_program program) then Refuse.refuse "the program accesses a location that it does not have";
  let tso = List.mem "tso" given in
  let net = Program_net.of_program ~tso program in
  let says = match Check.check net subject claim, claim with
    | Uncoverable, _ -> "robust"
    | Coverable, Evidence.Run (initial, firings) when Violation.check ~tso program net initial firings -> "not robust"
    | Coverable, _ -> Refuse.refuse "the run of the net does not show that the program is not robust" in
  Printf.printf "%s: accepted: the program as read from %s is %s against %s%s%s\n" evidence_path program_path says
    (if tso then "x86-TSO" else if List.mem "ra" given then "release/acquire" else "C11")
    (if List.mem "any" given then Printf.sprintf ", for %s number of its threads" (if says = "robust" then "any" else "some") else "")
    (if plain && not tso then " (non-atomic accesses count as relaxed ones; races are not looked for)" else "")

let () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 17; space_overhead = 400 };
  let guarded subject run =
    try run () with
    | Refuse.Refused reason -> Printf.printf "%s: rejected: %s\n" subject reason; exit 4
    | Query.Unread reason -> Printf.eprintf "%s\n" reason; exit 3
    | Stack_overflow | Out_of_memory -> Printf.printf "%s: rejected: it is too large\n" subject; exit 4
    | Sys_error reason -> Printf.eprintf "Error: %s\n" reason; exit 2
    | broken -> Printf.printf "%s: rejected: the checker broke off: %s\n" subject (Printexc.to_string broken); exit 4 in
  match List.tl (Array.to_list Sys.argv) with
  | "net" :: path :: options ->
    guarded path (fun () -> print_string (Program_net.text (Program_net.of_program ~tso:(List.mem "tso" options) (fst (program path options)))))
  | "robust" :: evidence :: path :: options -> guarded evidence (fun () -> robust evidence path options)
  | [ evidence; net ] -> guarded evidence (fun () -> accept evidence net None)
  | [ evidence; net; query ] -> guarded evidence (fun () -> accept evidence net (Some query))
  | _ ->
    prerr_endline "usage: palisade-proved EVIDENCE NET [QUERY] | net PROGRAM [ra|tso] [any] | robust EVIDENCE PROGRAM [ra|tso] [any]";
    exit 2
