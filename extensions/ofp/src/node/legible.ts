import { UNSEEN } from '@svc/api';

const ALL_UNSEEN = new RegExp(UNSEEN.source, 'gu');

/** Text of another daemon for rows and pages: without what cannot be seen, and cut. */
export const legible = (text: string, most: number): string => text.slice(0, most).replaceAll(ALL_UNSEEN, '');
