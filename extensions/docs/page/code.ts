/** One call of an operation as code: for the shell, for TypeScript with @svc/client, and for Python with requests. */
import { isSocket, isStream, type Operation } from './openapi.js';
import { addressWith, type Sample } from './sample.js';

export const CODE_LANGUAGES = ['curl', 'typescript', 'python'] as const;
export type CodeLanguage = (typeof CODE_LANGUAGES)[number];
export const LANGUAGE_NAMES: Readonly<Record<CodeLanguage, string>> = { curl: 'curl', typescript: 'TypeScript', python: 'Python' };

interface Call {
  readonly operation: Operation;
  readonly sample: Sample;
  /** The daemon, without a slash at its end. */
  readonly origin: string;
}

export const codeFor = (language: CodeLanguage, call: Call): string => (isSocket(call.operation) ? SOCKETS[language](call) : CALLS[language](call));

const JSON_TYPE = 'application/json';
const FILE = 'report.pdf';

const bodyKind = ({ operation, sample }: Call): 'none' | 'json' | 'form' | 'file' => {
  const { body } = operation;
  if (!body) return 'none';
  if (body.contentType === JSON_TYPE) return sample.body === undefined ? 'none' : 'json';
  return body.contentType === 'multipart/form-data' ? 'form' : 'file';
};

/** The field of a form that a file goes into. */
export const fileField = ({ body }: Operation): string => Object.keys(body?.schema.properties ?? {})[0] ?? 'file';

const jsonText = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2));
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const curl = (call: Call): string => {
  const { operation, sample, origin } = call;
  const kind = bodyKind(call);
  const method = operation.method === 'GET' || (operation.method === 'POST' && kind !== 'none') ? '' : ` -X ${operation.method}`;
  const bodies = {
    none: [],
    json: [`-H 'Content-Type: ${JSON_TYPE}'`, `-d ${shellQuoted(jsonText(sample.body))}`],
    form: [`-F ${fileField(operation)}=@${FILE}`],
    file: ["-H 'Content-Type: application/octet-stream'", `--data-binary @${FILE}`],
  };
  return [
    `curl${isStream(operation) ? ' -N' : ''}${method} ${shellQuoted(origin + addressWith(operation.path, sample))}`,
    ...(operation.needsKey ? ['-H "Authorization: Bearer $SVC_API_KEY"'] : []),
    ...Object.entries(sample.headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...bodies[kind],
  ].join(' \\\n  ');
};

const scriptQuoted = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const MAX_LINE = 90;

type Brackets = readonly [open: string, close: string];
const laidOut = ([open, close]: Brackets, parts: readonly string[], indent: string, pad: string): string => {
  const line = `${open}${pad}${parts.join(', ')}${pad}${close}`;
  if (line.length + indent.length <= MAX_LINE && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${indent}  ${part},\n`).join('')}${indent}${close}`;
};

/** A value of JSON in a language with its own words for some of them. */
const literal = (value: unknown, words: { quote(text: string): string; key(name: string): string; word(value: unknown): string; pad: string; step: string }, indent = ''): string => {
  const deeper = indent + words.step;
  if (typeof value === 'string') return words.quote(value);
  if (Array.isArray(value))
    return laidOut(
      ['[', ']'],
      value.map((one) => literal(one, words, deeper)),
      indent,
      '',
    );
  if (typeof value !== 'object' || value === null) return words.word(value);
  const entries = Object.entries(value).map(([name, one]) => `${words.key(name)}: ${literal(one, words, deeper)}`);
  return entries.length === 0 ? '{}' : laidOut(['{', '}'], entries, indent, words.pad);
};

const SCRIPT_WORDS = { quote: scriptQuoted, key: (name: string) => (IDENTIFIER.test(name) ? name : scriptQuoted(name)), word: String, pad: ' ', step: '  ' };
export const scriptLiteral = (value: unknown, indent = ''): string => literal(value, SCRIPT_WORDS, indent);

const PYTHON_WORDS = {
  quote: (text: string) => JSON.stringify(text),
  key: (name: string) => JSON.stringify(name),
  word: (value: unknown) => ({ true: 'True', false: 'False', null: 'None' })[String(value)] ?? String(value),
  pad: '',
  step: '  ',
};
export const pythonLiteral = (value: unknown, indent = ''): string => literal(value, PYTHON_WORDS, indent);

/** What a parameter of a number or a truth value is in code. */
const typed = ({ parameters }: Operation, name: string, text: string): unknown => {
  const type = parameters.find((one) => one.name === name)?.schema.type;
  return type === 'integer' || type === 'number' || type === 'boolean' ? JSON.parse(text) : text;
};

const SCRIPT_BODIES = { none: undefined, json: undefined, form: 'form', file: 'await readFile(file)' } as const;

const typescript = (call: Call): string => {
  const { operation, sample, origin } = call;
  const kind = bodyKind(call);
  const given = Object.fromEntries(Object.entries({ ...sample.path, ...sample.query }).map(([name, text]) => [name, typed(operation, name, text)]));
  const parts = [
    ...Object.entries(given).map(([name, value]) => `${SCRIPT_WORDS.key(name)}: ${scriptLiteral(value, '  ')}`),
    ...(kind === 'json' ? [`body: ${scriptLiteral(sample.body, '  ')}`] : []),
    ...(kind === 'form' || kind === 'file' ? [`body: ${SCRIPT_BODIES[kind]}`] : []),
  ];
  const input = parts.length === 0 ? '' : laidOut(['{', '}'], parts, '', ' ');
  const headers = Object.keys(sample.headers).length > 0 ? `, { headers: ${scriptLiteral(sample.headers)} }` : '';
  const streams = isStream(operation);
  return [
    ...(kind === 'form' || kind === 'file' ? ["import { readFile } from 'node:fs/promises';"] : []),
    "import { createClient } from '@svc/client';",
    ...(streams ? ["import { followEvents } from '@svc/client/stream';"] : []),
    '',
    `const client = createClient({ baseUrl: '${origin}', key: process.env.SVC_API_KEY });`,
    ...(kind === 'form' || kind === 'file' ? [`const file = '${FILE}';`] : []),
    ...(kind === 'form' ? ['const form = new FormData();', `form.append('${fileField(operation)}', new Blob([await readFile(file)]), file);`] : []),
    streams
      ? `for await (const event of followEvents(client, '${operation.id}'${input === '' ? ', {}' : `, ${input}`})) {\n  console.log(event.type, event.data);\n}`
      : `const answer = await client.call('${operation.id}'${input === '' && headers !== '' ? ', {}' : input && `, ${input}`}${headers});\nconsole.log(answer);`,
  ].join('\n');
};

const python = (call: Call): string => {
  const { operation, sample, origin } = call;
  const kind = bodyKind(call);
  const streams = isStream(operation);
  const headers = { ...sample.headers };
  const own = Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  const sent = [...(operation.needsKey ? ['"Authorization": f"Bearer {os.environ.get(\'SVC_API_KEY\', \'\')}"'] : []), ...own];
  const bodies = { none: [], json: [`json=${pythonLiteral(sample.body, '  ')}`], form: [`files={"${fileField(operation)}": open("${FILE}", "rb")}`], file: [`data=open("${FILE}", "rb")`] };
  const answers = operation.answers.some(({ contentType }) => contentType === JSON_TYPE);
  return [
    ...(operation.needsKey ? ['import os', ''] : []),
    'import requests',
    '',
    `response = requests.${operation.method.toLowerCase()}(`,
    `  "${origin}${addressWith(operation.path, { path: sample.path, query: {} })}",`,
    ...(Object.keys(sample.query).length > 0 ? [`  params=${pythonLiteral(Object.fromEntries(Object.entries(sample.query).map(([name, text]) => [name, typed(operation, name, text)])), '  ')},`] : []),
    ...(sent.length > 0 ? [`  headers={${sent.join(', ')}},`] : []),
    ...bodies[kind].map((line) => `  ${line},`),
    ...(streams ? ['  stream=True,'] : []),
    '  timeout=60,',
    ')',
    'response.raise_for_status()',
    ...(streams ? ['for line in response.iter_lines(decode_unicode=True):', '  print(line)'] : [answers ? 'print(response.json())' : 'print(response.text)']),
  ].join('\n');
};

const CALLS: Readonly<Record<CodeLanguage, (call: Call) => string>> = { curl, typescript, python };

const socketAddress = ({ operation, sample, origin }: Call): string => `${origin.replace(/^http/, 'ws')}${addressWith(operation.path, sample)}`;
/** The key goes as a subprotocol: browsers let a page set no header on a socket. */
const SOCKETS: Readonly<Record<CodeLanguage, (call: Call) => string>> = {
  curl: (call) => `# curl speaks no WebSocket in conversation; with websocat (https://github.com/vi/websocat):\nwebsocat -H "Authorization: Bearer $SVC_API_KEY" ${shellQuoted(socketAddress(call))}`,
  typescript: (call) => `const socket = new WebSocket('${socketAddress(call)}', [\`bearer.\${process.env.SVC_API_KEY}\`]);\nsocket.onmessage = ({ data }) => console.log(JSON.parse(data));`,
  python: (call) =>
    `import os\n\nfrom websockets.sync.client import connect\n\nheaders = {"Authorization": f"Bearer {os.environ.get('SVC_API_KEY', '')}"}\nwith connect("${socketAddress(call)}", additional_headers=headers) as socket:\n  for message in socket:\n    print(message)`,
};
