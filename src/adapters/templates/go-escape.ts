import { isPrintable } from './go-quote.ts';

/** Go's url.QueryEscape: letters, digits and `-_.~` stay, a space becomes `+`, every other byte `%XX`. */
export function queryEscape(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

const html: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

/** Go's template.HTMLEscapeString. */
export const htmlEscape = (text: string) => text.replace(/[\0"'&<>]/g, (sign) => html[sign] ?? sign);

/** Go's template.JSEscapeString. */
export const jsEscape = (text: string) =>
  text.toWellFormed().replace(/[\\'"]|[<>&=]|\p{Cc}|\P{ASCII}/gu, (sign) => {
    if (/[\\'"]/.test(sign)) return `\\${sign}`;
    const isLeft = sign > '\x7f' ? isPrintable(sign) : sign === '\x7f';
    const hex = (sign.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return isLeft ? sign : `\\u${hex.padStart(4, '0')}`;
  });
