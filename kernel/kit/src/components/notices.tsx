/** What was said in passing, where people see it and screen readers read it out. */
import { effect } from '@preact/signals';
import { address } from '../address.js';
import { kitWords } from '../kit-words.js';
import { connection } from '../live.js';
import { IconButton } from './button.js';
import { CONNECTION, dismiss, leftPlace, saidNow, settled } from './failures.js';
import { Icon } from './icon.js';

effect(() => {
  if (connection.value === 'live') settled(CONNECTION);
});
let place = address.peek().panel;
effect(() => {
  const { panel } = address.value;
  if (panel !== place) leftPlace();
  place = panel;
});

/** While the page itself says that the daemon is away, no notice says so too. */
const isNews = ({ about }: { about?: string | undefined }): boolean => about !== CONNECTION || connection.value !== 'offline';

export const Notices = () => (
  <section class="notices" aria-live="polite" aria-label={kitWords('notices')}>
    {saidNow.value.filter(isNews).map(({ id, kind, text, hint }) => (
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
