/** `‹ 2/3 ›`: at a turn that has versions, leads to another one. */
import { useEffect, useRef } from '@svc/kit';
import { VersionSteps } from './version-steps.js';
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
  const choose = (sessionId: string, step: 1 | -1): unknown => {
    pressed = { through, step };
    return onChoose(sessionId);
  };
  return <VersionSteps versions={sessions} at={at} onStep={choose} label={t('versions')} own={own} />;
};
