// Starts `palisade lsp` for .pal files, litmus tests, and harnesses in Rust.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  const { timeout, arguments: words, fixes } = workspace.getConfiguration("palisade");
  return { timeout, arguments: words, fixes };
}

async function activate(context) {
  const command = workspace.getConfiguration("palisade").get("path");
  client = new LanguageClient(
    "palisade",
    "Palisade",
    { command, args: ["lsp"] },
    {
      documentSelector: [{ language: "palisade" }, { language: "litmus" }, { language: "rust", scheme: "file" }],
      initializationOptions: settings(),
    },
  );
  context.subscriptions.push(
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("palisade")) {
        client.sendNotification("workspace/didChangeConfiguration", { settings: { palisade: settings() } });
      }
    }),
  );
  await client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
