/** A schedule in words: cron expressions, intervals and dates. */
import cronstrue from 'cronstrue';
import 'cronstrue/locales/zh_CN.js';

const FIELDS = /^\S+(\s+\S+){4}$/;

/** Undefined for what has no words: an expression that is not valid, an interval, a date. */
export const cronWords = (text: string, language: 'en' | 'zh'): string | undefined => {
  if (!FIELDS.test(text.trim())) return undefined;
  try {
    return cronstrue.toString(text.trim(), { locale: language === 'zh' ? 'zh_CN' : 'en', use24HourTimeFormat: true });
  } catch {
    return undefined; // the daemon says what is wrong with it
  }
};
