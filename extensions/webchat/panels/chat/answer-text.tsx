/** Markdown, by code that comes after what one types with. Until it is there, the text stands as it was written. */
import { failed, signal, useEffect } from '@svc/kit';

type View = typeof import('./markdown.js')['Markdown'];

const view = signal<{ readonly Markdown: View } | undefined>(undefined);
let isComing = false;

/** Wanted soon, or now; asked for again after a failure. */
export const bringMarkdown = async (): Promise<void> => {
  if (isComing) return;
  isComing = true;
  try {
    const { Markdown } = await import('./markdown.js');
    view.value = { Markdown };
  } catch (error) {
    isComing = false;
    failed(error);
  }
};

export const AnswerText = ({ text }: { text: string }) => {
  useEffect(() => void bringMarkdown(), []);
  if (!view.value) return <div class="markdown unread">{text}</div>;
  const { Markdown } = view.value;
  return <Markdown text={text} />;
};
