package payload

import "math/rand/v2"

var merchantV38 = Kind{
	Name:  "MerchantV38",
	New:   func() Message { return new(MerchantV38) },
	Bytes: 49.5,
	Random: func(r *rand.Rand) Message {
		m := new(MerchantV38)
		// Field by field and not by reflection: making the message must not be what the
		// benchmark of its encoding measures.
		bits := r.Uint64()
		yes := func() bool { b := bits&1 == 1; bits >>= 1; return b }
		m.AcceptsCards = yes()
		m.AcceptsWallets = yes()
		m.AcceptsTransfers = yes()
		m.AcceptsCash = yes()
		m.AcceptsVouchers = yes()
		m.AllowsRefunds = yes()
		m.AllowsPartialRefunds = yes()
		m.AllowsTips = yes()
		m.AllowsSplitBills = yes()
		m.SendsReceipts = yes()
		m.SendsInvoices = yes()
		m.HasWebShop = yes()
		m.HasStores = yes()
		m.HasTerminals = yes()
		m.HasSubscriptions = yes()
		m.IsVerified = yes()
		m.IsSuspended = yes()
		m.IsTestAccount = yes()
		m.IsMarketplace = yes()
		m.SellsAbroad = yes()
		m.ShipsGoods = yes()
		m.SellsDownloads = yes()
		m.SellsAlcohol = yes()
		m.NeedsAgeCheck = yes()
		m.NeedsSignature = yes()
		m.NeedsSecondFactor = yes()
		m.UsesWebhooks = yes()
		m.UsesPlugins = yes()
		m.UsesOwnCheckout = yes()
		m.ShowsLogo = yes()
		m.ShowsRating = yes()
		m.SettlesDaily = yes()
		m.SettlesWeekly = yes()
		m.SettlesInEuro = yes()
		m.KeepsCards = yes()
		m.SharesReports = yes()
		m.GetsNewsletter = yes()
		m.GetsBetaFeatures = yes()
		return m
	},
}
