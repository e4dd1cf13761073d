/** What was said in passing, where people see it and screen readers read it out. */
import { kitWords } from '../kit-words.js';
import { IconButton } from './button.js';
import { dismiss, saidNow } from './failures.js';
import { Icon } from './icon.js';

export const Notices = () => (
  <section class="notices" aria-live="polite" aria-label={kitWords('notices')}>
    {saidNow.value.map(({ id, kind, text, hint }) => (
      <div key={id} class={`notice ${kind}`} role={kind === 'failure' ? 'alert' : 'status'}>
        <Icon name={kind === 'failure' ? 'circle-alert' : 'circle-check'} />
        <div class="grow">
          <p>{text}</p>
          {hint && <p class="muted">{hint}</p>}
        </div>
        <IconButton small icon="x" label={kitWords('dismiss')} onPress={() => dismiss(id)} />
      </div>
    ))}
  </section>
);
