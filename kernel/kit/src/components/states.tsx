/** How a view looks while it has nothing to show: still loading, empty, failed. */
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../loading.js';
import { kitWords } from '../kit-words.js';
import { Button } from './button.js';
import { Icon, type IconName } from './icon.js';
import { isOutageSaid, sayingOf } from './failures.js';

/** Grey lines where text will be; `label` is what a screen reader hears. */
export const Loading = ({ lines = 4, label }: { lines?: number; label?: string }) => (
  <div class="loading" role="status">
    <span class="off-screen">{label ?? kitWords('loading')}</span>
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} class="bone" aria-hidden="true" />
    ))}
  </div>
);

/** There is nothing, and what to do about that. */
export const Empty = ({ icon = 'box', title, children }: { icon?: IconName; title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <Icon name={icon} size={28} />
    <h2>{title}</h2>
    {children}
  </div>
);

export const Failure = ({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }) => {
  const { text, hint, requestId } = sayingOf(error);
  return (
    <div class="failure" role="alert">
      <Icon name="circle-alert" />
      <div class="grow">
        <p>
          <strong>{title ?? kitWords('failed')}</strong> {text}
        </p>
        {hint && <p class="muted">{hint}</p>}
        {requestId && (
          <p class="muted small-text">
            {kitWords('request')} <code>{requestId}</code>
          </p>
        )}
      </div>
      {onRetry && (
        <Button small icon="refresh-cw" onPress={onRetry}>
          {kitWords('retry')}
        </Button>
      )}
    </div>
  );
};

/** Draws what was loaded; until then, and where it failed, that. What is old is said to be so. */
export const Shown = <T,>({ of, children, lines }: { of: Loaded<T>; children: (data: T) => ComponentChildren; lines?: number }) => {
  if (of.data === undefined) return of.error === undefined ? <Loading lines={lines ?? 4} /> : <Failure error={of.error} onRetry={of.reload} />;
  return (
    <>
      {of.error !== undefined && !isOutageSaid(of.error) && <Failure title={kitWords('stale')} error={of.error} onRetry={of.reload} />}
      {children(of.data)}
    </>
  );
};
