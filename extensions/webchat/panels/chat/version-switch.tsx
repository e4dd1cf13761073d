/** `‹ 2/3 ›`: at a turn that has versions, leads to another one. */
import { IconButton, useEffect, useRef } from '@svc/kit';
import type { Parting } from './versions.js';
import { t } from './words.js';

/** Which button was pressed: the conversation is drawn anew, and who goes on by keyboard stands at the same place. */
let pressed: { readonly through: number; readonly step: 1 | -1 } | undefined;

export const VersionSwitch = ({ parting, onChoose }: { parting: Parting; onChoose: (sessionId: string) => unknown }) => {
  const own = useRef<HTMLSpanElement>(null);
  const { through, sessions, at } = parting;
  useEffect(() => {
    if (pressed?.through !== through) return;
    const buttons = [...(own.current?.querySelectorAll<HTMLButtonElement>('button') ?? [])];
    const meant = pressed.step === 1 ? buttons.reverse() : buttons;
    pressed = undefined;
    own.current?.scrollIntoView({ block: 'center' });
    meant.find(({ disabled }) => !disabled)?.focus();
  }, []);
  const step = (by: 1 | -1) => ({
    disabled: sessions[at + by] === undefined,
    onPress: () => {
      const next = sessions[at + by];
      if (next === undefined) return undefined;
      pressed = { through, step: by };
      return onChoose(next);
    },
  });
  return (
    <span class="versions" role="group" aria-label={t('versions')} ref={own}>
      <IconButton small icon="chevron-left" label={t('version_before')} {...step(-1)} />
      <span class="numbers" role="status" aria-label={t('version_of', { at: at + 1, count: sessions.length })}>
        {at + 1}/{sessions.length}
      </span>
      <IconButton small icon="chevron-right" label={t('version_after')} {...step(1)} />
    </span>
  );
};
