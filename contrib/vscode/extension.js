// Starts `palisade lsp` for .pal files, litmus tests, and harnesses in Rust.

const { window, workspace } = require("vscode");
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
      if (event.affectsConfiguration("palisade.path")) {
        window.showInformationMessage("Palisade: reload the window to start the command of `palisade.path`.");
      } else if (event.affectsConfiguration("palisade") && client.isRunning()) {
        client.sendNotification("workspace/didChangeConfiguration", { settings: { palisade: settings() } });
      }
    }),
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `Palisade: \`${command} lsp\` does not start (${error.message}). Set \`palisade.path\` to the command, and reload the window.`,
    );
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
