/** The steps of the setup in Chinese. In English they come with the channel; test/steps.test.ts compares their number. */
import { language } from '@svc/kit';
import { STEPS_ZH } from './steps-zh.js';

export const stepsOf = ({ channel_type: type, setup_steps: steps }: { readonly channel_type: string; readonly setup_steps: readonly string[] }): readonly string[] =>
  (language.value === 'zh' ? STEPS_ZH[type] : undefined) ?? steps;
