/** Whether there is room for something beside the conversation (chat.css has the same width). */
import { matchesMedia } from '@svc/kit';

export const isWide = matchesMedia('(min-width: 72rem)');
