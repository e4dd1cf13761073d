/** What a call would do, as a person reads it before they decide. */
import type { OutputOf } from '@svc/kit';
import { isCut, quoted } from '../../src/format/preview.js';
import { t } from './words.js';

export type Approval = OutputOf<'getApproval'>;

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'folded' };

const Changes = ({ diff, label }: { diff: string; label: string }) => (
  <div class="diff" role="region" aria-label={label} tabIndex={0}>
    {diff
      .replace(/\n$/, '')
      .split('\n')
      .map((line, index) => (
        <div key={index} class={`diff-line ${KINDS[line.charAt(0)] ?? 'same'}`}>
          <span>{line}</span>
        </div>
      ))}
  </div>
);

/** What the preview cut is in the arguments, which the request holds up to a bound. */
export const Preview = ({ preview, payload }: { preview: Approval['preview']; payload: unknown }) => (
  <>
    <Beginning preview={preview} />
    {isCut(preview) && (
      <details>
        <summary>{t('everything')}</summary>
        <pre tabIndex={0}>{fullText(payload)}</pre>
        {isTruncated(payload) && <p class="approval-warning">{t('beyond')}</p>}
      </details>
    )}
  </>
);

const isTruncated = (payload: unknown): payload is { truncated: true; text: string } =>
  typeof payload === 'object' && payload !== null && 'truncated' in payload && payload.truncated === true && 'text' in payload && typeof payload.text === 'string';

/** Each argument by its name, its text as it stands. */
const fullText = (payload: unknown): string => {
  if (isTruncated(payload)) return payload.text;
  if (typeof payload !== 'object' || payload === null) return JSON.stringify(payload, null, 2);
  return Object.entries(payload)
    .map(([name, value]) => `${name}:\n${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}`)
    .join('\n\n');
};

const Beginning = ({ preview }: { preview: Approval['preview'] }) => {
  if (preview.kind === 'command')
    return (
      <>
        <pre tabIndex={0}>{preview.argv === null ? preview.line : preview.argv.map(quoted).join(' ')}</pre>
        {preview.argv === null && <p class="approval-warning">{t('shell_line')}</p>}
        {preview.truncated && <p class="approval-warning">{t('truncated')}</p>}
      </>
    );
  if (preview.kind === 'diff')
    return (
      <>
        {preview.files.map(({ path, change, diff, added, removed, truncated }) => (
          <div key={path}>
            <p class="row wrap">
              <code class="approval-path">
                <bdi>{path}</bdi>
              </code>
              <span class="muted numbers">
                {t(change)} +{added} −{removed}
              </span>
            </p>
            {diff !== '' && <Changes diff={diff} label={path} />}
            {truncated && <p class="approval-warning">{t('truncated')}</p>}
          </div>
        ))}
      </>
    );
  if (preview.kind === 'request')
    return (
      <>
        <p class="row wrap">
          <span>{preview.method}</span>
          <strong>
            <bdi>{preview.host}</bdi>
          </strong>
        </p>
        <pre tabIndex={0}>{preview.url}</pre>
      </>
    );
  return (
    <>
      <pre tabIndex={0}>{preview.text}</pre>
      {preview.problem !== undefined && <p class="approval-warning">{preview.problem}</p>}
      {preview.truncated && <p class="approval-warning">{t('truncated')}</p>}
    </>
  );
};
