/** What is said around a third party's panel: it comes with the code that hosts frames, not with the page. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    loading: 'Loading panel',
    broken: 'This panel does not work',
    framed: "This panel comes from the third-party extension {extension}. It can only reach that extension's own API, with your permissions.",
    floods: '{extension} sent too many messages. Its panel was closed.',
    left: '{extension} replaced its panel with another document. It was closed.',
  },
  zh: {
    loading: '正在加载面板',
    broken: '此面板无法工作',
    framed: '此面板由外部扩展 {extension} 提供，只能以您的身份访问该扩展自身的接口。',
    floods: '{extension} 不断发送消息，其面板已关闭。',
    left: '{extension} 将面板替换成了其他文档，面板已关闭。',
  },
});
