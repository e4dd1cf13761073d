/** A request to this daemon, as the person who looks at the page: what is filled in is sent, and the answer is shown as it comes. */
import { openAsIs } from '@svc/client/as-is';
import { Button, bytes, failed, Fold, notify, Select, TextArea, TextField, useContext, useEffect, useRef, useState } from '@svc/kit';
import { fileField } from './code.js';
import { CodeBlock } from './code-examples.js';
import { t } from './docs-words.js';
import { keyNow } from './key.js';
import type { Operation, Parameter } from './openapi.js';
import { ApiContext } from './prose.js';
import { addressWith, parameterSample, requestSample } from './sample.js';

const MAX_SHOWN_CHARS = 200_000;
const JSON_TYPE = 'application/json';

interface Received {
  readonly status: string;
  readonly ms: number;
  readonly headers: string;
  readonly type: string;
  readonly text: string;
  readonly isOpen: boolean;
}

/** What is required is filled in with its example; what may be left out stays empty. */
const beginning = (parameters: readonly Parameter[], schemas: Parameters<typeof parameterSample>[1]): Record<string, string> =>
  Object.fromEntries(parameters.filter(({ isNeeded }) => isNeeded).map((one) => [one.name, parameterSample(one, schemas)]));

const bodyText = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2));

/** Undefined is no body. Throws where the text is not what it has to be. */
const bodyOf = (operation: Operation, text: string, file: File | undefined): string | File | FormData | undefined => {
  const { body } = operation;
  if (!body) return undefined;
  if (body.contentType === JSON_TYPE) {
    if (text.trim() === '') return undefined;
    JSON.parse(text);
    return text;
  }
  if (body.contentType !== 'multipart/form-data') return file;
  if (!file) return undefined;
  const form = new FormData();
  form.append(fileField(operation), file, file.name);
  return form;
};

const isText = (type: string): boolean => type === '' || /^text\/|json|toml|xml|javascript/.test(type);
const readable = (type: string, text: string): string => {
  if (!type.includes('json') || type.includes('ndjson')) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // shown as it came
  }
};

/** Gives what has come, again and again. */
async function* received(response: Response, begun: number): AsyncGenerator<Received> {
  const type = response.headers.get('content-type') ?? '';
  const known = { status: `${response.status} ${response.statusText}`.trim(), type, headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n') };
  const ms = (): number => Math.round(performance.now() - begun);
  if (!isText(type)) {
    const { size } = await response.blob();
    yield { ...known, ms: ms(), text: t('binary', { size: bytes(size), type }), isOpen: false };
    return;
  }
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    text += decoder.decode(value, { stream: true });
    yield { ...known, ms: ms(), text, isOpen: true };
  }
  yield { ...known, ms: ms(), text: readable(type, text), isOpen: false };
}

const Result = ({ result: { status, ms, headers, text, isOpen } }: { result: Received }) => (
  <div class="stack try-result">
    <p role="status">
      <strong>{t('answered', { status, ms })}</strong> {isOpen && '…'}
    </p>
    <CodeBlock text={text.slice(0, MAX_SHOWN_CHARS)} label={t('received')} />
    {text.length > MAX_SHOWN_CHARS && <p class="muted">{t('shortened', { count: MAX_SHOWN_CHARS })}</p>}
    <Fold summary={t('answer_headers')}>
      <CodeBlock text={headers} label={t('answer_headers')} />
    </Fold>
  </div>
);

const useSending = (operation: Operation) => {
  const [result, setResult] = useState<Received>();
  const [isOpen, setOpen] = useState(false);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const send = async (values: Readonly<Record<string, string>>, body: ReturnType<typeof bodyOf>): Promise<void> => {
    const own = new AbortController();
    stop.current = own;
    const of = (place: string) => Object.fromEntries(operation.parameters.filter((one) => one.in === place && (values[one.name] ?? '') !== '').map(({ name }) => [name, values[name] ?? '']));
    const key = keyNow();
    const headers = { ...of('header'), ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...(typeof body === 'string' ? { 'content-type': JSON_TYPE } : {}) };
    setResult(undefined);
    setOpen(true);
    try {
      const begun = performance.now();
      const address = addressWith(operation.path, { path: of('path'), query: of('query') });
      const response = await openAsIs({ method: operation.method, address, headers, signal: own.signal, ...(body === undefined ? {} : { body }) });
      for await (const now of received(response, begun)) setResult(now);
    } catch (error) {
      if (!own.signal.aborted) failed(new Error(t('not_sent', { why: error instanceof Error ? error.message : String(error) })));
    } finally {
      setOpen(false);
    }
  };
  return { result, isOpen, send, stop: () => stop.current?.abort() };
};

export const TryIt = ({ operation }: { operation: Operation }) => {
  const { schemas } = useContext(ApiContext);
  const { body, parameters } = operation;
  const [values, setValues] = useState(() => beginning(parameters, schemas));
  const [text, setText] = useState(() => bodyText(requestSample(operation, schemas).body));
  const [example, setExample] = useState(0);
  const [file, setFile] = useState<File>();
  const { result, isOpen, send, stop } = useSending(operation);
  const examples = body?.examples ?? [];

  const press = (): void => {
    const missing = parameters.find(({ name, isNeeded }) => isNeeded && (values[name] ?? '') === '');
    if (missing) {
      notify(t('missing', { name: missing.name }));
      return;
    }
    try {
      void send(values, bodyOf(operation, text, file));
    } catch (error) {
      failed(new Error(t('bad_json', { why: error instanceof Error ? error.message : '' })));
    }
  };

  return (
    <form
      class="stack try-it"
      aria-label={t('try')}
      onSubmit={(event) => {
        event.preventDefault();
        press();
      }}
    >
      {parameters.map(({ name, isNeeded }) => (
        <TextField key={name} label={name} isNeeded={isNeeded} value={values[name] ?? ''} onValue={(value) => setValues((now) => ({ ...now, [name]: value }))} autocomplete="off" />
      ))}
      {examples.length > 1 && (
        <Select
          label={t('example_of')}
          value={String(example)}
          onValue={(value) => {
            setExample(Number(value));
            setText(bodyText(examples[Number(value)]?.value));
          }}
          options={examples.map(({ title }, index) => ({ value: String(index), label: title }))}
        />
      )}
      {body?.contentType === JSON_TYPE && <TextArea isCode label={t('body')} value={text} onValue={setText} rows={Math.min(16, 2 + text.split('\n').length)} />}
      {body && body.contentType !== JSON_TYPE && (
        <label class="stack">
          {t('file')}
          <input type="file" class="input" onChange={(event) => setFile(event.currentTarget.files?.[0])} />
        </label>
      )}
      <div class="row wrap">
        <Button kind="primary" icon="send" type="submit" disabled={isOpen}>
          {t('send')}
        </Button>
        {isOpen && (
          <Button icon="square" onPress={stop}>
            {t('stop')}
          </Button>
        )}
        {isOpen && !result && <span role="status">{t('sending')}</span>}
      </div>
      {result && <Result result={result} />}
    </form>
  );
};
