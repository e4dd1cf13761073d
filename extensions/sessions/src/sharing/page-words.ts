/** What a shared page says beside the conversation, in the language that its reader's browser asks for first. */
interface PageWords {
  readonly language: string;
  readonly person: string;
  readonly agent: string;
  readonly asOf: string;
  readonly isCut: string;
  readonly untitled: string;
  readonly endedTitle: string;
  readonly ended: string;
  files(count: number): string;
}

const EN: PageWords = {
  language: 'en',
  person: 'Person',
  agent: 'AI assistant',
  asOf: 'Shared conversation, as of',
  isCut: 'The conversation is long. This page begins with a later message.',
  untitled: 'Conversation',
  endedTitle: 'Link not found',
  ended: 'There is no such link, or it has ended. Ask the person who sent it for a new one.',
  files: (count) => (count === 1 ? '1 attachment, not shown' : `${count} attachments, not shown`),
};

const ZH: PageWords = {
  language: 'zh',
  person: '用户',
  agent: 'AI 助手',
  asOf: '分享的对话，截至',
  isCut: '对话较长，此页从较后的消息开始。',
  untitled: '对话',
  endedTitle: '未找到链接',
  ended: '此链接不存在或已失效。请向发送者索取新的链接。',
  files: (count) => `${count} 个附件，未显示`,
};

/** `languages`: of the header Accept-Language. */
export const pageWords = (languages = ''): PageWords => (/^\s*zh\b/i.test(languages) ? ZH : EN);
