/** What the panel of the device login says. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    title: 'GitHub Copilot',
    note: 'Log in with your GitHub account to use the models of your Copilot plan.',
    login: 'Login',
    log_in: 'Log in with a code',
    again: 'Get another code',
    open: 'Open the page of GitHub',
    how: 'Open the page, type this code there and agree. The code works for {minutes} min {seconds} s.',
    waiting: 'Waiting for you to agree there.',
    done: 'You are logged in. The token is in the vault, as the key of github-copilot.',
    denied: 'The login was refused on the page of GitHub.',
    over: 'The code expired before anybody typed it.',
    ended: 'The login ended: {error}.',
  },
  zh: {
    title: 'GitHub Copilot',
    note: '使用你的 GitHub 账号登录，即可使用 Copilot 套餐中的模型。',
    login: '登录',
    log_in: '用验证码登录',
    again: '获取新的验证码',
    open: '打开 GitHub 页面',
    how: '打开页面，输入此验证码并同意。验证码还有 {minutes} 分 {seconds} 秒有效。',
    waiting: '正在等待你在那里同意。',
    done: '已登录。令牌已作为 github-copilot 的密钥存入保险库。',
    denied: '登录在 GitHub 页面上被拒绝。',
    over: '验证码在输入之前已过期。',
    ended: '登录已结束：{error}。',
  },
});
