/** The panels of the open hub, side by side above the panel. One Tab stop, with arrows inside. */
import { addressOf, IconButton, language, useEffect, useRef } from '@svc/kit';
import { agentInView, hubs, isPinned, openHub, shownPanel, togglePin, waiting } from './hubs.js';
import { Count } from './navigation.js';
import { t } from './shell-words.js';

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

const move = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
  const step = STEPS[event.key];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  const links = [...event.currentTarget.querySelectorAll('a')];
  const next = links[links.findIndex((link) => link.matches(':focus')) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
};

export const HubTabs = () => {
  const list = useRef<HTMLElement>(null);
  const open = shownPanel();
  const hub = hubs.value.find(({ id }) => id === openHub());
  useEffect(() => list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [open?.id, hub?.panels.length]);
  if (!open || !hub || hub.panels.length < 2 || agentInView() !== undefined) return null;
  const title = open.title[language.value];
  return (
    <div class="hub">
      <nav class="hub-tabs" aria-label={t('tabs_of', { hub: t(`hub_${hub.id}`) })} ref={list} onKeyDown={move}>
        {hub.panels.map((panel) => (
          <a key={panel.id} href={addressOf(panel.id)} tabIndex={panel === open ? 0 : -1} aria-current={panel === open ? 'page' : undefined}>
            {panel.title[language.value]}
            <Count of={waiting.value[panel.id]} />
          </a>
        ))}
      </nav>
      <IconButton icon={isPinned(open.id) ? 'pin-off' : 'pin'} label={t(isPinned(open.id) ? 'unpin' : 'pin', { title })} onPress={() => togglePin(open.id)} />
    </div>
  );
};
