/** Which driver speaks to which provider. */
import type { ProviderRecord } from '@svc/ext-providers/contract';
import type { MediaDriver } from './driver.js';
import { elevenlabs } from './elevenlabs.js';
import { gemini } from './gemini.js';
import { googleTts } from './google-tts.js';
import { minimax } from './minimax.js';
import { openai } from './openai.js';

const OWN: Readonly<Record<string, MediaDriver>> = { elevenlabs, gemini, google_tts: googleTts, minimax, openai };

/** Any other server that speaks OpenAI's protocol is asked in its form. */
export const driverOf = ({ name, wire }: Pick<ProviderRecord, 'name' | 'wire'>): MediaDriver | undefined => (Object.hasOwn(OWN, name) ? OWN[name] : wire === 'openai' ? openai : undefined);
