(* `palisade-proved EVIDENCE NET [QUERY]`: checks evidence about a net by what Coq has proved.
   Exit status: 0 accepted, 4 rejected, 3 a format or question that is not read, 2 a file that cannot be read. *)

exception Unread of string

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

let accept evidence_path net_path query_path =
  let evidence = slurp evidence_path in
  if String.length evidence > 1 lsl 30 then Refuse.refuse "malformed evidence: longer than 2^30 bytes";
  let subject, claim = Evidence.read evidence in
  let bytes = slurp net_path in
  check_hash subject.input net_path bytes;
  let net = match subject.input.format, subject.query, query_path with
    | "spec", None, None -> Spec.read (text bytes)
    | format, _, _ -> raise (Unread (Printf.sprintf "nets of the format `%s` with this question are not read" format)) in
  let shown = Check.check net subject claim in
  let says = if shown = "coverable" then "some reachable marking covers a target"
    else "no reachable marking covers a target" in
  Printf.printf "%s: accepted: %s of the net as read from %s\n" evidence_path says net_path

let () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 400 };
  let arguments = List.tl (Array.to_list Sys.argv) in
  match arguments with
  | evidence :: net :: ([] | [ _ ] as query) ->
    (try accept evidence net (match query with [ q ] -> Some q | _ -> None) with
     | Refuse.Refused reason -> Printf.printf "%s: rejected: %s\n" evidence reason; exit 4
     | Unread reason -> Printf.eprintf "%s\n" reason; exit 3
     | Stack_overflow | Out_of_memory -> Printf.printf "%s: rejected: it is too large\n" evidence; exit 4
     | Sys_error reason -> Printf.eprintf "Error: %s\n" reason; exit 2)
  | _ -> prerr_endline "usage: palisade-proved EVIDENCE NET [QUERY]"; exit 2
