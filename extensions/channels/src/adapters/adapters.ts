/** Every adapter there is, by name, in the order in which they are listed. */
import type { Adapter } from './adapter.js';
import { createDiscord } from './discord/discord.js';
import { email } from './mail/mail.js';
import { matrix } from './matrix/matrix.js';
import { mqtt } from './mqtt.js';
import { ntfy } from './ntfy.js';
import { sidecar } from './sidecar.js';
import { slack } from './slack/slack.js';
import { telegram } from './telegram.js';
import { webhook } from './webhook.js';

export const ADAPTERS: ReadonlyMap<string, Adapter> = new Map([telegram, createDiscord(), slack, matrix, email, webhook, ntfy, mqtt, sidecar].map((one) => [one.id, one]));
