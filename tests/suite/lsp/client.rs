//! An editor as the server sees it: it speaks the protocol with the real process over its standard
//! input and output.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long to wait for a message before the server counts as dead. Nothing is waited for that does
/// not come.
const PATIENCE: Duration = Duration::from_mins(3);

/// An editor.
pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What the server has said besides its answers.
    pub(crate) heard: Vec<Value>,
    /// How much of it is behind.
    looked: usize,
    last: u64,
}

impl Client {
    /// An editor that can do everything, whose server was told these settings.
    pub(crate) fn new(mut settings: Value) -> Self {
        settings["status"] = true.into();
        let mut client = Self::silent();
        let able = json!({
            "window": { "workDoneProgress": true },
            "workspace": { "codeLens": { "refreshSupport": true }, "workspaceEdit": { "documentChanges": true } },
        });
        let parameters = json!({ "capabilities": able, "initializationOptions": settings });
        let answer = client.ask("initialize", parameters);
        assert_eq!(answer["result"]["serverInfo"]["name"], "palisade");
        client.tell("initialized", json!({}));
        client
    }

    /// An editor that has not said anything yet.
    pub(crate) fn silent() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("palisade starts");
        let (input, output) = (server.stdin.take(), server.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { server, input, messages, heard: Vec::new(), looked: 0, last: 0 }
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// Says something that has no answer.
    pub(crate) fn tell(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server says something")
    }

    /// Opens a text.
    pub(crate) fn open(&mut self, uri: &str, language: &str, text: &str) {
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Changes a text.
    pub(crate) fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Waits until the server has come so far with a text, and gives the verdict; what it says
    /// meanwhile is heard. What it had said before the last such stage is behind.
    pub(crate) fn until(&mut self, uri: &str, version: i32, stage: &str) -> Value {
        loop {
            while self.looked < self.heard.len() {
                let message = &self.heard[self.looked];
                self.looked += 1;
                let own = &message["params"];
                let is_it = message["method"] == "palisade/status"
                    && own["uri"] == uri
                    && own["version"] == version
                    && own["stage"] == stage;
                if is_it {
                    return own["verdict"].clone();
                }
            }
            let message = self.next();
            self.heard.push(message);
        }
    }

    /// Asks about a text at a position.
    pub(crate) fn at(&mut self, method: &str, uri: &str, (line, character): (u32, u32)) -> Value {
        let position = json!({ "line": line, "character": character });
        let context = json!({ "includeDeclaration": true });
        let parameters = json!({ "textDocument": { "uri": uri }, "position": position, "context": context });
        self.ask(&format!("textDocument/{method}"), parameters)["result"].clone()
    }

    /// Asks about a text as a whole.
    pub(crate) fn about(&mut self, method: &str, uri: &str) -> Value {
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        let parameters = json!({ "textDocument": { "uri": uri }, "options": options });
        self.ask(&format!("textDocument/{method}"), parameters)["result"].clone()
    }

    /// The changes that are offered on a line.
    pub(crate) fn actions(&mut self, uri: &str, line: u32) -> Vec<Value> {
        let place = json!({ "line": line, "character": 0 });
        let range = json!({ "start": place, "end": place });
        let parameters = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
        let answer = self.ask("textDocument/codeAction", parameters);
        answer["result"].as_array().expect("a list").clone()
    }

    /// The diagnostics that the server has published last for a text, and of which text.
    pub(crate) fn diagnostics(&self, uri: &str) -> (Value, Vec<Value>) {
        let is_own = |message: &&Value| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
        };
        let last = &self.heard.iter().rev().find(is_own).expect("some were published")["params"];
        (last["version"].clone(), last["diagnostics"].as_array().expect("a list").clone())
    }

    /// Leaves as the protocol has it; the exit status.
    pub(crate) fn leave(mut self) -> Option<i32> {
        let answer = self.ask("shutdown", Value::Null);
        assert_eq!(answer["result"], Value::Null);
        self.tell("exit", Value::Null);
        self.server.wait().expect("it ends").code()
    }

    /// Closes its end without a word; the exit status.
    pub(crate) fn vanish(mut self) -> Option<i32> {
        drop(self.input.take());
        self.server.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that fails leaves no server behind.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Reads a message; nothing at the end.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        length = line.strip_prefix("Content-Length: ").and_then(|count| count.parse().ok()).or(length);
    }
    let mut text = vec![0; length?];
    output.read_exact(&mut text).ok()?;
    String::from_utf8(text).ok()?.parse().ok()
}

/// A text with edits made, whose columns count units of UTF-16.
pub(crate) fn edited(text: &str, edits: &Value) -> String {
    let byte = |place: &Value| {
        let number = |key: &str| usize::try_from(place[key].as_u64().expect("a number")).expect("a small one");
        let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        let mut left = number("character");
        let fits = |c: &char| {
            let fits = left >= c.len_utf16();
            left = left.saturating_sub(c.len_utf16());
            fits
        };
        start + text[start..].chars().take_while(fits).map(char::len_utf8).sum::<usize>()
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("a list")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (byte(&range["start"]), byte(&range["end"]), edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}
