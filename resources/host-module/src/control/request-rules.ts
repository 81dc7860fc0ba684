/** What a request and a decision about it may hold, beyond the quota rules. */
import { AppError } from "../../../../shared/errors.ts";
import { amountsOf, compare, type Limits, zero } from "../../../../shared/quota/index.ts";
import { hiddenCharacters } from "../ledger/display-name.ts";

/** `what` begins a sentence. Line ends and tabs are fine: people write paragraphs. Throws AppError `bad-request`. */
export function refuseHidden(what: string, words: string): void {
  if (!hiddenCharacters.test(words.replace(/[\t\n\r]/g, ""))) return;
  throw new AppError({
    code: "bad-request",
    message: `${what} has control characters or marks that turn the direction of text.`,
    remedy: "Write it anew without them.",
  });
}

/** Throws AppError `bad-request` where it says nothing, or holds what nobody sees. */
export function checkWhy(why: string): void {
  if (why.trim() === "") {
    throw new AppError({
      code: "bad-request",
      message: "The request does not say why.",
      remedy: "Write a sentence for whoever decides.",
    });
  }
  refuseHidden("The reason", why);
}

interface Wish {
  readonly amount: Limits;
  readonly until: string;
}

/** A decision grants at most what was asked, of each resource and in time. Throws AppError `bad-request`. */
export function refuseMoreThanAsked(asked: Wish, granted: Wish): void {
  const most = new Map(amountsOf(asked.amount));
  const isMore = amountsOf(granted.amount).some(
    ([resource, amount]) => compare(amount, most.get(resource) ?? zero) > 0,
  );
  if (!isMore && Date.parse(granted.until) <= Date.parse(asked.until)) return;
  throw new AppError({
    code: "bad-request",
    message: `A decision cannot grant more than was asked for${isMore ? "" : ", nor for longer"}.`,
    remedy: "Ask anew for more, or have the limit itself changed.",
  });
}
