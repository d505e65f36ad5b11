/**
 * A report as PDF. It is printed twice: the first print tells on which page each heading comes to lie, the
 * second has the numbers in its contents. The date of making is the session's, so that the same session
 * gives the same bytes wherever the same browser with the same fonts prints it.
 */
import { datePdf, placesInPdf, type PdfPrinter } from '../../adapters/pdf'
import type { ReportModel } from './model'
import { printDocument } from './print'

export async function printPdfReport(model: ReportModel, print: PdfPrinter): Promise<Uint8Array> {
  const draft = await print(printDocument(model))
  const pages = placesInPdf(draft)
  const pdf = pages.size > 0 ? await print(printDocument(model, pages)) : draft
  return datePdf(pdf, new Date(model.date ?? model.session.createdAt))
}
