/** What the adapters refuse or fail with. Messages name hosts and relative paths, never query strings, values or secrets. */
import { defineErrors } from '@svc/api';

export const fetchErrors = defineErrors('fetch', {
  bad_url: { status: 400, retry: false, message: (why: string) => `The URL cannot be fetched: ${why}.`, hint: 'Use a complete http or https address without user name and password.' },
  bad_request: { status: 400, retry: false, message: (host: string, why: string) => `The request to ${host} is not valid: ${why}.`, hint: 'Check method, headers and body.' },
  refused_address: {
    status: 403,
    retry: false,
    message: (host: string, why: string) => `${host} is not allowed: ${why}.`,
    hint: 'An admin can add the address to `network` of the agent. An operator can add the host to [web.fetch] ssrf_allowed_hosts. Cloud metadata addresses are never allowed.',
  },
  not_a_model: {
    status: 403,
    retry: false,
    message: (host: string) => `No model provider is configured at ${host}, so model calls cannot go there.`,
    hint: 'Set its base URL: PUT /api/providers/{name}/url, or [provider_urls] in config.toml.',
  },
  not_a_server: {
    status: 403,
    retry: false,
    message: (host: string) => `No server is configured at ${host}, so the request was not sent.`,
    hint: 'Configure the address where the server is set up. A redirect leads only to an address that is configured too.',
  },
  host_not_allowed: {
    status: 403,
    retry: false,
    message: (host: string) => `The agent's network capability does not cover ${host}.`,
    hint: 'Add the host to `network` in the capabilities of the agent.',
  },
  too_many_redirects: { status: 502, retry: false, message: (host: string, limit: number) => `${host} redirected more than ${limit} times.` },
  too_large: {
    status: 502,
    retry: false,
    message: (host: string, limit: number) => `The response of ${host} is larger than ${limit} bytes.`,
    hint: 'Request less, or raise [web.fetch] max_response_bytes.',
  },
  timeout: {
    status: 504,
    retry: true,
    message: (host: string, ms: number, what: string) => `${host} did not answer in time: ${what} took more than ${ms} ms.`,
    hint: 'Try again, or allow more time.',
  },
  network: { status: 502, retry: true, message: (host: string, why: string) => `${host} cannot be reached: ${why}.`, hint: 'Check the address, the network and, where one is named, the proxy.' },
  bad_proxy: {
    status: 503,
    retry: false,
    message: (from: string) => `The proxy (${from}) is not an address of a proxy, so nothing was sent.`,
    hint: 'Write it as http://host:port, https://host:port or socks5://host:port.',
  },
  cancelled: { status: 499, retry: false, message: (host: string) => `The request to ${host} was cancelled.` },
  bad_body: { status: 502, retry: false, message: (host: string) => `The response of ${host} is not JSON.` },
  too_many_origins: {
    status: 503,
    retry: false,
    message: (limit: number) => `${limit} base URLs are allowed already, which is the limit.`,
    hint: 'Remove those that are no longer used.',
  },
  closed: { status: 503, retry: true, message: () => 'The daemon is stopping and opens no connections.' },
});

export const execErrors = defineErrors('exec', {
  denied: { status: 403, retry: false, message: () => 'Starting processes is switched off.', hint: 'Set [exec_policy] mode to "allowlist".' },
  bad_command: { status: 400, retry: false, message: (why: string) => `The command cannot be started: ${why}.` },
  not_found: { status: 400, retry: false, message: (command: string) => `There is no program "${command}" on PATH.`, hint: 'Install it, or correct the name.' },
  own_files: {
    status: 403,
    retry: false,
    message: (word: string) => `The command refers to a file of the daemon or of another process: "${word.slice(0, 200)}".`,
    hint: 'Use files in the workspace.',
  },
  bad_cwd: { status: 400, retry: false, message: () => 'The working directory does not exist or is not a directory.' },
  no_sandbox: {
    status: 503,
    retry: false,
    message: (cause: string, fix: string) => `Agent commands must run in a sandbox, and no sandbox is available: ${cause}. ${fix}`,
    hint: 'Check with svc doctor. With [tools] sandbox = "auto", commands run without a sandbox.',
  },
  no_terminal: { status: 503, retry: false, message: (cause: string, fix: string) => `Programs cannot have a terminal here: ${cause}. ${fix}`, hint: 'svc doctor shows what this machine lacks.' },
  bad_mount: {
    status: 400,
    retry: false,
    message: (path: string, why: string) => `"${path}" cannot be mounted into the sandbox: ${why}.`,
    hint: 'Fix [capabilities] mounts in the manifest.',
  },
  not_seen: {
    status: 400,
    retry: false,
    message: (program: string) => `The program ${program} is not visible in the sandbox.`,
    hint: 'Install it below /usr, or mount its folder: [capabilities] mounts in the manifest.',
  },
  busy: { status: 503, retry: true, message: (limit: number) => `${limit} processes are running already.`, hint: 'Try again when one has ended.' },
  stdin_closed: { status: 409, retry: false, message: (command: string) => `${command} takes no more input: it has ended, or its input was closed.`, hint: 'Start it again.' },
  stdin_full: {
    status: 503,
    retry: true,
    message: (command: string, limit: number) => `${command} is not reading its input: ${limit} bytes are already waiting.`,
    hint: 'Wait until it has read them before you write more.',
  },
  cancelled: { status: 499, retry: false, message: (command: string) => `${command} was stopped because its caller disconnected.` },
  failed: { status: 500, retry: true, message: (command: string) => `${command} could not be started.` },
});

export const tcpErrors = defineErrors('tcp', {
  bad_host: {
    status: 400,
    retry: false,
    message: (host: string) => `${JSON.stringify(host.slice(0, 200))} is not a host.`,
    hint: 'Use a host name or an IP address alone, without port, path, user name or zone.',
  },
  bad_port: { status: 400, retry: false, message: (port: string) => `${port} is not a port: ports are whole numbers up to 65535.` },
  unreachable: { status: 502, retry: true, message: (where: string, why: string) => `${where} cannot be reached (${why}).`, hint: 'Check the address, the network and, with TLS, the certificate.' },
  timeout: { status: 504, retry: true, message: (where: string, ms: number) => `${where} was not connected within ${ms} ms.`, hint: 'Try again, or allow more time.' },
  cancelled: { status: 499, retry: false, message: (where: string) => `The connection to ${where} was cancelled.` },
  too_many: { status: 503, retry: true, message: (limit: number) => `${limit} connections of this extension are open already.`, hint: 'Close some.' },
  closed: { status: 409, retry: false, message: (where: string) => `The connection to ${where} is closed.` },
  lost: { status: 502, retry: true, message: (where: string) => `The connection to ${where} was lost.` },
  idle: { status: 504, retry: true, message: (where: string, ms: number) => `The connection to ${where} was closed after being idle for ${ms} ms.` },
  not_securable: {
    status: 409,
    retry: false,
    message: (where: string, why: string) => `The connection to ${where} cannot be secured: ${why}.`,
    hint: 'Dial again, and use TLS from the first byte if the server offers it.',
  },
  send_full: {
    status: 503,
    retry: true,
    message: (where: string, limit: number) => `${where} is not reading: ${limit} bytes are already waiting.`,
    hint: 'Wait until it has read them before you write more.',
  },
  port_in_use: {
    status: 409,
    retry: true,
    message: (host: string, port: number) => `Port ${port} on ${host} is in use.`,
    hint: 'Choose another port, or stop the program that uses it.',
  },
  port_refused: {
    status: 403,
    retry: false,
    message: (host: string, port: number, code: string) => `Port ${port} on ${host} cannot be opened (${code}).`,
    hint: 'Choose a port above 1023, and an address of this machine.',
  },
  stopping: { status: 503, retry: true, message: () => 'The daemon is stopping and opens no connections.' },
});

export const websocketErrors = defineErrors('websocket', {
  bad_url: { status: 400, retry: false, message: (why: string) => `The address of the WebSocket cannot be used: ${why}.`, hint: 'Use wss://HOST/PATH without a user name or a fragment.' },
  refused: {
    status: 502,
    retry: true,
    message: (where: string, why: string) => `${where} did not open a WebSocket (${why}).`,
    hint: 'Check the address, and that the server speaks WebSocket there.',
  },
  timeout: { status: 504, retry: true, message: (where: string, ms: number) => `${where} did not open a WebSocket within ${ms} ms.`, hint: 'Try again, or allow more time.' },
  cancelled: { status: 499, retry: false, message: (where: string) => `The WebSocket to ${where} was cancelled.` },
  closed: { status: 409, retry: false, message: (where: string) => `The WebSocket to ${where} is closed.` },
  send_full: {
    status: 503,
    retry: true,
    message: (where: string, limit: number) => `${where} is not reading: ${limit} bytes are already waiting.`,
    hint: 'Wait until it has read them before you send more.',
  },
});

export const filesErrors = defineErrors('file', {
  bad_path: { status: 400, retry: false, message: (path: string, why: string) => `Path traversal denied: "${path}" ${why}.`, hint: 'Use a relative path below the folder, without "..".' },
  outside: { status: 403, retry: false, message: (path: string) => `Path traversal denied: "${path}" resolves outside workspace.` },
  link_denied: { status: 403, retry: false, message: (path: string) => `Path traversal denied: Symlink leaf denied for "${path}".`, hint: 'Remove the link, or name the file that it points to.' },
  linked_folder: { status: 403, retry: false, message: (path: string) => `"${path}" goes through a link to another folder.`, hint: 'Use the path of the folder that the link points to.' },
  missing: { status: 404, retry: false, message: (path: string) => `"${path}" does not exist.` },
  outside_roots: { status: 400, retry: false, message: (path: string) => `"${path.slice(0, 200)}" is in none of the folders that may be read here.` },
  changing: { status: 409, retry: true, message: (path: string) => `"${path}" was written while it was copied.`, hint: 'Stop the program that uses it, and try again.' },
  not_a_database: { status: 400, retry: false, message: (path: string, why: string) => `"${path}" cannot be read as a SQLite database: ${why}.` },
  wrong_kind: { status: 400, retry: false, message: (path: string, wanted: string) => `"${path}" is not a ${wanted}.` },
  too_large: {
    status: 413,
    retry: false,
    message: (path: string, bytes: number, limit: number) => `"${path}" has ${bytes} bytes; at most ${limit} are read.`,
    hint: 'Read a smaller file or a part of it.',
  },
  too_much: {
    status: 413,
    retry: false,
    message: (path: string, limit: number) => `"${path}" was not written: its source gave more than ${limit} bytes.`,
    hint: 'Send less, or in parts.',
  },
  bad_range: { status: 400, retry: false, message: (path: string) => `"${path}" cannot be read from there: start and end are whole numbers, and start is not after end.` },
  name_too_long: {
    status: 400,
    retry: false,
    message: (bytes: number, limit: number) => `The name has ${bytes} bytes; the file system takes at most ${limit}.`,
    hint: 'Choose a shorter name. Non-ASCII letters take two to four bytes each.',
  },
  disk_full: { status: 507, retry: true, message: (path: string) => `The disk is full: "${path}" was not written.`, hint: 'Free some space on the disk that holds the home folder, then try again.' },
  not_permitted: {
    status: 507,
    retry: false,
    message: (path: string) => `The system denies the daemon access to "${path}".`,
    hint: 'Allow the user that runs the daemon to read and write its home folder.',
  },
});

export const secretErrors = defineErrors('secret', {
  missing: {
    status: 424,
    retry: false,
    message: (name: string, variable: string | undefined) => `The secret "${name}" has no value${variable === undefined ? '' : `, and ${variable} is not set`}.`,
    hint: 'Store it, or set the environment variable.',
  },
  not_a_key: {
    status: 500,
    retry: false,
    message: (name: string) => `The secret "${name}" holds no Ed25519 key.`,
    hint: 'Delete it, and a new key is made. What the old one signed can still be verified with its public key.',
  },
  not_granted: {
    status: 403,
    retry: false,
    message: (name: string) => `This extension has no grant for the secret "${name}".`,
    hint: 'Add { "grant": "secrets:<name>", "why": "…" } to "grants" in its extension.json.',
  },
  env_not_granted: {
    status: 403,
    retry: false,
    message: (name: string) => `This extension has no grant to take a secret from the environment variable ${name}.`,
    hint: 'Add { "grant": "env:<NAME>", "why": "…" } to "grants" in its extension.json; "secrets-env" where people name the variable.',
  },
  no_store: { status: 503, retry: false, message: () => 'No extension stores secrets at the moment.', hint: 'Enable the vault, or use an environment variable.' },
  bad_name: { status: 400, retry: false, message: () => 'A secret name has 1 to 200 letters, digits and . _ : / -' },
});
